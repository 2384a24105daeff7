// SPDX-License-Identifier: GPL-3.0-or-later
// Rehearsals of ranks that record their layers (core/plan/graphed_layers.h): the calls of the host that are left, the
// memory that graphs hold, and messages that none of them disturbs; and what the planner says of the same.
#include "core/plan/graphed_layers.h"
#include "core/predict/prediction.h"
#include "core/program/graph_forms.h"
#include "runner/trainer/rehearsal/rehearse_rank.h"
#include "tests/parity/compare.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <gtest/gtest.h>

namespace fourfold::trainer {
namespace {

using fourfold::testing::joined;

ResolvedPlan graph_plan(int layers, bool recorded, const std::vector<std::string>& more = {})
{
    const fourfold::testing::TemporaryFolder folder; // its tokens are not read
    std::vector<std::string> settings{
        R"(model={"model_type":"llama","vocab_size":4096,"tie_word_embeddings":false,"hidden_size":512,)"
        R"("num_attention_heads":8,"num_key_value_heads":2,"intermediate_size":1536,"max_position_embeddings":2048})",
        "model.num_hidden_layers=" + std::to_string(layers), "cluster=\"dgx-h100\"", "training.seq_len=1024",
        "training.micro_batch=1", "training.global_batch=8", "training.precision=\"bf16\"",
        "run.environment={\"FOURFOLD_CUDA_GRAPHS\":\"" + std::string(recorded ? "1" : "0") + "\"}"};
    return fourfold::testing::tiny_plan(fourfold::testing::write_tokens(folder.path()), joined(settings, more));
}

RankRehearsal rehearsed_with_graphs(const ResolvedPlan& plan, int rank = 0)
{
    auto found = rehearse_rank(plan, rank);
    EXPECT_TRUE(found) << found.error().line();
    return std::move(*found);
}

TEST(RehearsedGraphs, TakeOneCallForAPassOfALayer)
{
    const auto launches_of_a_layer = [](bool recorded) {
        const RankRehearsal more = rehearsed_with_graphs(graph_plan(3, recorded)),
                            less = rehearsed_with_graphs(graph_plan(2, recorded));
        return double(more.work.launches - less.work.launches) / 8; // micro-batches
    };
    // Besides the optimizer's, which are the bucket's.
    const double computed = launches_of_a_layer(false), recorded = launches_of_a_layer(true);
    EXPECT_EQ(recorded, 2);
    EXPECT_EQ(kGraphCalls, recorded / computed) << computed << " launches";
}

TEST(RehearsedGraphs, ComputeTheSame)
{
    const auto with = [](bool recorded, bool launches_take_time) {
        ResolvedPlan plan = graph_plan(4, recorded);
        for (const char* floor : {"layer_floor_forward_s", "layer_floor_backward_s"})
            if (!launches_take_time)
                plan.stack.constants[floor] = 0;
        return rehearsed_with_graphs(plan);
    };
    const RankRehearsal computed = with(false, false), recorded = with(true, false);
    EXPECT_EQ(recorded.work.flops, computed.work.flops);
    // A copy of what goes into the layers, forward and backward, more; kernels that are played are the same.
    EXPECT_NEAR(recorded.work.seconds / computed.work.seconds, 1, 0.03);
    EXPECT_LT(with(true, true).work.seconds, 0.7 * with(false, true).work.seconds)
        << "layers as short as these wait for their launches";
    EXPECT_EQ(recorded.misused, "");
    EXPECT_GT(recorded.played, 0) << "equal micro-batches are folded as ever";
}

// What graphs hold is there outside of the passes too; at the most it is what the activations are anyway.
class GraphMemory : public ::testing::TestWithParam<std::vector<std::string>> { };

TEST_P(GraphMemory, IsWhatThePlannerSays)
{
    const ResolvedPlan with = graph_plan(8, true, GetParam()), without = graph_plan(8, false, GetParam());
    const Prediction planned_with = predict(with), planned_without = predict(without);
    for (int stage = 0; stage < with.layout.pp; ++stage) {
        const RankRehearsal recorded = rehearsed_with_graphs(with, stage),
                            computed = rehearsed_with_graphs(without, stage);
        EXPECT_EQ(recorded.misused, "") << "stage " << stage;
        // Of reserved memory: what a pool has free is nobody else's. Its segments of 20 MiB are not filled.
        constexpr double kGiB = 1 << 30, kSegments = 0.125;
        const double held = (double(recorded.reserved) - double(computed.reserved)) / kGiB;
        const auto place = std::size_t(stage);
        const double planned
            = planned_with.memory_by_stage.at(place).total() - planned_without.memory_by_stage.at(place).total();
        EXPECT_GT(held, 0) << "stage " << stage;
        EXPECT_NEAR(planned, held, kSegments) << "stage " << stage;
    }
}

INSTANTIATE_TEST_SUITE_P(Plans, GraphMemory,
    ::testing::Values(std::vector<std::string>{},
        std::vector<std::string>{"gpus=2", "layout.dp=2", "training.sharding=\"optimizer\""},
        std::vector<std::string>{"gpus=4", "layout.pp=4"},
        std::vector<std::string>{
            "gpus=2", "layout.pp=2", "layout.virtual_stages=2", "training.schedule=\"interleaved\""},
        std::vector<std::string>{"training.recompute=\"full\"", "training.recompute_every=2"}));

} // namespace
} // namespace fourfold::trainer
