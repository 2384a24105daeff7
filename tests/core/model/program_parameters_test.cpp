// SPDX-License-Identifier: GPL-3.0-or-later
// The planner's parameters per GPU against the parameter table, shard by shard.
#include "core/model/parameters.h"
#include "core/program/operation.h"
#include "tests/core/model/preset_model.h"

#include <gtest/gtest.h>

#include <string_view>

namespace fourfold {
namespace {

struct Split {
    int tp = 1, pp = 1;
};

ResolvedPlan plan_of(const ModelShape& model, const Split& split)
{
    ResolvedPlan plan;
    plan.model = model;
    plan.padded_vocab = model.vocab;
    plan.layout.tp = plan.layout.etp = split.tp;
    plan.layout.pp = split.pp;
    for (int stage = 0; stage < split.pp; ++stage)
        plan.layout.stage_layers.push_back(model.layers / split.pp + (stage < model.layers % split.pp));
    plan.gpus = split.tp * split.pp;
    plan.cluster.gpu.memory_gib = 80;
    plan.cluster.gpu.memory_bandwidth_gb_s = 2000;
    plan.cluster.gpu.bf16_tflops = 300;
    plan.cluster.intra_node.bandwidth_gb_s = 300;
    plan.cluster.inter_node.bandwidth_gb_s = 25;
    plan.training.seq_len = 1024;
    plan.training.micro_batches = plan.training.global_batch = 4;
    return plan;
}

TEST(ProgramParameters, AreTheShardsOfTheTable)
{
    for (const char* id : {"llama-3.1-8b", "llama-3.2-1b", "qwen2.5-7b", "mixtral-8x7b", "deepseek-v3", "gpt2",
             "gpt-neox-20b", "bloom-176b", "qwen3-4b", "qwen3-30b-a3b", "gpt-oss-20b", "llama-4-maverick",
             "nemotron-4-15b", "nemotron-h-8b", "gemma-3-4b", "grok-1", "deepseek-v3 with two modules",
             "nemotron-h-8b with two modules", "qwen3-30b-a3b with two modules"}) {
        const std::string_view name(id);
        const bool ahead = name.ends_with(" with two modules");
        ModelShape model = test::preset_model(std::string(name.substr(0, name.find(' '))));
        model.predicted_ahead = ahead ? 2 : 0;
        for (const Split split : {Split{1, 1}, Split{2, 1}, Split{1, 2}, Split{2, 4}}) {
            const ResolvedPlan plan = plan_of(model, split);
            const std::vector<StageProgram> stages = build_program(plan);
            ASSERT_EQ(stages.size(), static_cast<std::size_t>(split.pp));
            int first = 0;
            for (int stage = 0; stage < split.pp; ++stage) {
                const int last = first + plan.layout.stage_layers[static_cast<std::size_t>(stage)];
                double expected = 0;
                for (const Parameter& parameter :
                    parameter_table(model, model.vocab, first, last, stage == 0, stage == split.pp - 1)) {
                    // DeepSeek-V3 moves its routing bias by a rule (section 2.1.2): no gradient, no optimizer state.
                    if (!parameter.name.ends_with("e_score_correction_bias"))
                        expected += double(parameter.elements()) / (parameter.tp_dim >= 0 ? split.tp : 1);
                }
                if (ahead && stage > 0 && stage == split.pp - 1) // the modules look tokens up as well
                    expected += double(model.vocab * model.hidden) / split.tp;
                EXPECT_NEAR(stages[static_cast<std::size_t>(stage)].parameters / expected, 1, 1e-9)
                    << id << " tp " << split.tp << " pp " << split.pp << " stage " << stage;
                first = last;
            }
        }
    }
}

} // namespace
} // namespace fourfold
