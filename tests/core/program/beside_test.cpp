// SPDX-License-Identifier: GPL-3.0-or-later
// What hides behind another micro-batch: all but the first forward and the last backward of one stage, and in a
// schedule that puts passes beside each other everything.
#include "core/predict/prediction.h"
#include "core/program/operation.h"
#include "tests/core/predict/random_plans.h"

#include <gtest/gtest.h>

namespace fourfold::test {
namespace {

ResolvedPlan plan_of(bool beside, Json layout, Json training, const std::string& model, const char* field)
{
    training.update({{"micro_batch", 1}, {"seq_len", 4096}, {"recompute", "none"}, {"overlap", {{field, beside}}}});
    return resolved({{"model", model}, {"cluster", "dgx-h100"}, {"gpus", 8}, {"stack", "generic"},
        {"layout", std::move(layout)}, {"training", std::move(training)}});
}

// How often the layers of a forward communicate in `part`, and how often of these behind those of another.
std::pair<double, double> times(const ResolvedPlan& plan, Part part)
{
    double all = 0, hidden = 0;
    const std::vector<StageProgram> program = build_program(plan);
    for (const ChunkProgram& chunk : program[0].chunks)
        for (const Operation& op : chunk.operations)
            if (op.part == part && op.communicates() && op.in_layer && op.phase == Phase::forward) {
                all += op.repeat;
                hidden += op.window == Window::layer ? op.repeat : 0;
            }
    return {all, hidden};
}

TEST(Beside, OfOneStageAllButOneMicroBatchHides)
{
    const Json four{{"global_batch", 16}, {"async_tp", true}};
    const auto plan = [&](bool beside) {
        return plan_of(beside, {{"tp", 2}, {"dp", 4}}, four, "llama-3.1-8b", "tensor_parallel");
    };
    const auto [all, hidden] = times(plan(true), Part::tp);
    const auto [plain, none] = times(plan(false), Part::tp);
    ASSERT_GT(all, 0);
    EXPECT_DOUBLE_EQ(all, plain);
    EXPECT_EQ(none, 0);
    EXPECT_DOUBLE_EQ(hidden, 0.75 * all);
    EXPECT_LT(*predict(plan(true)).step_time_s, *predict(plan(false)).step_time_s);
}

TEST(Beside, OfAPipelineThatHasPassesSoEverythingDoes)
{
    const Json dualpipe{{"global_batch", 16}, {"async_tp", true}, {"schedule", "dualpipe-v"}};
    const auto [all, hidden] = times(plan_of(true, {{"tp", 2}, {"pp", 2}, {"dp", 2}, {"virtual_stages", 2}}, dualpipe,
                                         "llama-3.1-8b", "tensor_parallel"),
        Part::tp);
    ASSERT_GT(all, 0);
    EXPECT_DOUBLE_EQ(hidden, all);
}

TEST(Beside, TokensOfExpertsHideAsMuch)
{
    const auto [all, hidden] = times(
        plan_of(true, {{"dp", 8}, {"ep", 8}}, {{"global_batch", 16}}, "mixtral-8x7b", "expert_exchange"), Part::ep);
    ASSERT_GT(all, 0);
    EXPECT_DOUBLE_EQ(hidden, 0.5 * all);
}

} // namespace
} // namespace fourfold::test
