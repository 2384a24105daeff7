// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/stage_layers.h"
#include "tests/core/model/preset_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace fourfold {
namespace {

using Layers = std::vector<int>;

TEST(StageLayers, TheRemainderGoesWhereTheStackPutsIt)
{
    EXPECT_EQ(even_stage_layers(32, 4), (Layers{8, 8, 8, 8}));
    EXPECT_EQ(even_stage_layers(34, 4), (Layers{9, 9, 8, 8}));
    EXPECT_EQ(middle_stage_layers(32, 4), (Layers{8, 8, 8, 8}));
    EXPECT_EQ(middle_stage_layers(34, 4), (Layers{8, 9, 9, 8}));
    EXPECT_EQ(middle_stage_layers(35, 4), (Layers{8, 9, 9, 9})) << "more than the middle holds";
    // Llama 3.1 405B on 8 stages of two chunks, as in torchtitan's table 6.
    Layers expected(16, 8);
    expected.front() = expected.back() = 7;
    EXPECT_EQ(middle_stage_layers(126, 16), expected);
}

TEST(StageLayers, EveryRuleKeepsTheLayersAndFollowsTheStack)
{
    ModelShape model;
    model.hidden = 2048;
    model.ffn = 8192;
    model.vocab = 131072;
    for (const int layers : {1, 16, 31, 126}) {
        model.layers = layers;
        for (const int chunks : {1, 2, 3, 8, 16}) {
            for (const auto split : {StageSplit::even, StageSplit::equal, StageSplit::middle, StageSplit::cost}) {
                Stack stack;
                stack.stage_split = split;
                const Layers stages = default_stage_layers(model, stack, chunks, 1, kPlainSchedule);
                EXPECT_EQ(int(stages.size()), chunks);
                EXPECT_EQ(std::accumulate(stages.begin(), stages.end(), 0), layers);
                EXPECT_GE(*std::min_element(stages.begin(), stages.end()), 0);
            }
        }
    }
    // The playbook's 1B on two stages: the head weighs as much as four blocks.
    model.layers = 16;
    Stack nanotron;
    nanotron.stage_split = StageSplit::cost;
    EXPECT_EQ(default_stage_layers(model, nanotron, 2, 1, kPlainSchedule), (Layers{10, 6}));
}

// Megatron-Bridge's layout of DeepSeek-V3 with its module of multi-token prediction on 16 stages.
TEST(StageLayers, ModulesThatPredictFurtherAheadLeaveTheLastChunkFewer)
{
    ModelShape model = test::preset_model("deepseek-v3");
    Stack stack;
    stack.stage_split = StageSplit::equal;
    EXPECT_EQ(default_stage_layers(model, stack, 16, 1, kPlainSchedule), even_stage_layers(61, 16));
    model.predicted_ahead = 1;
    Layers expected(16, 4);
    expected.back() = 1;
    EXPECT_EQ(default_stage_layers(model, stack, 16, 1, kPlainSchedule), expected);
    EXPECT_EQ(default_stage_layers(model, stack, 1, 1, kPlainSchedule), (Layers{61}));
    for (const int chunks : {2, 3, 8, 61}) {
        const Layers layers = default_stage_layers(model, stack, chunks, 1, kPlainSchedule);
        EXPECT_EQ(std::accumulate(layers.begin(), layers.end(), 0), 61) << chunks;
        EXPECT_GE(*std::min_element(layers.begin(), layers.end()), 1) << chunks;
    }
}

// On a V the first stage holds the first and the last chunk: what stands behind the last layer takes layers from both,
// and the last chunk may hold nothing else where the software can.
TEST(StageLayers, OnAVModulesTakeLayersFromBothChunksOfTheFirstStage)
{
    ModelShape model = test::preset_model("deepseek-v3");
    model.predicted_ahead = 1;
    const auto on_a_v
        = [&](const Stack& stack, int pp) { return default_stage_layers(model, stack, pp, 2, Schedule::dualpipe_v); };
    Layers expected(32, 2);
    expected.front() = 1;
    expected.back() = 0;
    EXPECT_EQ(on_a_v(Stack(), 16), expected);
    Stack trainer; // wants a layer in every chunk
    trainer.constants["gradient_buffers"] = 3;
    expected[30] = expected[31] = 1;
    EXPECT_EQ(on_a_v(trainer, 16), expected);
    for (const int pp : {2, 3, 4, 8, 16, 30}) {
        for (const Stack& stack : {Stack(), trainer}) {
            const Layers layers = on_a_v(stack, pp);
            ASSERT_EQ(int(layers.size()), 2 * pp);
            EXPECT_EQ(std::accumulate(layers.begin(), layers.end(), 0), 61) << pp;
            EXPECT_GE(*std::min_element(layers.begin(), layers.end() - 1), 1) << pp;
            EXPECT_GE(layers.back(), stack.constants.empty() ? 0 : 1) << pp;
            for (int stage = 2; stage < pp; ++stage) // the stages without ends differ by a layer at most
                EXPECT_LE(std::abs(layers[std::size_t(stage)] + layers[std::size_t(2 * pp - 1 - stage)] - layers[1]
                              - layers[std::size_t(2 * pp - 2)]),
                    1)
                    << pp;
        }
    }
    // Without modules nothing turns on the placement.
    model.predicted_ahead = 0;
    EXPECT_EQ(on_a_v(Stack(), 16), even_stage_layers(61, 32));
}

} // namespace
} // namespace fourfold
