// SPDX-License-Identifier: GPL-3.0-or-later
// The trace event of a run: the spans that really were, in the form of the planner's timeline.
#include "core/schedule/chrome_trace.h"
#include "tests/parity/compare.h"
#include "tests/parity/event_schema.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace fourfold::testing {
namespace {

using namespace std::chrono_literals;

TEST(Trace, HoldsEveryActionOfTheScheduleOnEveryPipelineRank)
{
    const TemporaryFolder folder;
    const ResolvedPlan plan = tiny_plan(write_tokens(folder.path()),
        {"gpus=4", "layout.tp=2", "layout.pp=2", "layout.virtual_stages=2", "model.num_hidden_layers=4",
            "training.schedule=\"interleaved\"", "run.steps=3"});
    Ranks ranks(
        4, {trainer_program(), "--plan", write_plan(plan, folder.path()), "--run-dir", folder.path()}, folder.path());
    for (const int status : ranks.wait(150s))
        ASSERT_EQ(status, 0) << ranks.log(0) << ranks.log(3);

    const auto events = ranks.events(0);
    const auto found = std::ranges::find_if(events, [](const Json& event) { return event["event"] == "trace"; });
    ASSERT_NE(found, events.end());
    EXPECT_EQ(schema_violation(*found), "");
    EXPECT_EQ((*found)["step"], 3) << "the tenth step, or the last of a shorter run";
    const auto timeline = timeline_from_chrome_trace(*found, "trace");
    ASSERT_TRUE(timeline) << timeline.error().line();
    EXPECT_EQ(timeline->stages, 2);

    using Key = std::tuple<SpanKind, int, int>; // kind, chunk, micro-batch
    for (int stage = 0; stage < 2; ++stage) {
        std::map<Key, Span> actions;
        double last_end = 0;
        for (const Span& span : timeline->spans) {
            if (span.stage != stage)
                continue;
            EXPECT_GE(span.start_s, last_end - 1e-9) << "spans of one rank follow each other";
            EXPECT_GE(span.end_s, span.start_s);
            EXPECT_LE(span.end_s, timeline->length_s + 1e-9);
            last_end = span.end_s;
            if (span.kind == SpanKind::forward || span.kind == SpanKind::backward)
                actions[{span.kind, span.chunk, span.micro_batch}] = span;
        }
        // Two chunks, forward and backward.
        EXPECT_EQ(actions.size(), std::size_t(2 * 2 * plan.training.micro_batches));
        for (const auto& [key, span] : actions) {
            EXPECT_EQ(span.chunk % 2, stage);
            if (span.kind == SpanKind::backward) {
                EXPECT_GE(span.start_s, (actions[{SpanKind::forward, span.chunk, span.micro_batch}].end_s));
            }
        }
    }
}

// Where each rank has one expert, the busiest rank is that of the busiest expert.
TEST(StepEvents, TellTheLoadOfTheBusiestExpertParallelRank)
{
    const std::vector<std::string> experts{
        "model.model_type=\"mixtral\"", "model.num_local_experts=4", "model.num_experts_per_tok=2", "run.steps=2"};
    for (const int ranks_of_experts : {4, 1}) {
        const TemporaryFolder folder;
        const ResolvedPlan plan = tiny_plan(write_tokens(folder.path()),
            joined({"gpus=4", "layout.dp=4", "layout.ep=" + std::to_string(ranks_of_experts)}, experts));
        Ranks ranks(4, {trainer_program(), "--plan", write_plan(plan, folder.path()), "--run-dir", folder.path()},
            folder.path());
        for (const int status : ranks.wait(150s))
            ASSERT_EQ(status, 0) << ranks.log(0) << ranks.log(3);
        int steps = 0;
        for (const Json& event : ranks.events(0)) {
            if (event["event"] != "step")
                continue;
            ++steps;
            EXPECT_EQ(schema_violation(event), "");
            const Json& load = event["experts"];
            EXPECT_EQ(load.contains("busiest_rank"), ranks_of_experts > 1);
            EXPECT_EQ(load.contains("ranks"), ranks_of_experts > 1);
            if (ranks_of_experts > 1) {
                EXPECT_EQ(load["ranks"], ranks_of_experts);
                EXPECT_DOUBLE_EQ(load["busiest_rank"].get<double>(), load["busiest"].get<double>());
                EXPECT_GT(load["busiest_rank"].get<double>(), 1);
            }
        }
        EXPECT_EQ(steps, 2);
    }
}

// The worker of tests/bench/trainer/stretched_pipeline.py: sleeps take at least as long as asked, and every action
// waits for what the simulation lets it wait for.
TEST(Trace, StepsOfActionsOfAFixedTimeAreNoShorterThanSimulated)
{
    const TemporaryFolder folder;
    const auto tokens = write_tokens(folder.path());
    for (const char* schedule : {"1f1b", "zb-h1", "zb-v"}) {
        const TemporaryFolder own;
        const bool v = schedule == std::string("zb-v");
        const ResolvedPlan plan = tiny_plan(tokens,
            {"gpus=2", "layout.pp=2", v ? "layout.virtual_stages=2" : "layout.virtual_stages=1",
                "model.num_hidden_layers=4", "training.schedule=\"" + std::string(schedule) + "\"", "run.steps=2"});
        Ranks ranks(2,
            {parity_worker(), "--plan", write_plan(plan, own.path()), "--run-dir", own.path(), "--stretch", "0.01"},
            own.path());
        for (const int status : ranks.wait(150s))
            ASSERT_EQ(status, 0) << ranks.log(0) << ranks.log(1);
        const auto result = read_json_file(own.path() / "stretched0.json");
        ASSERT_TRUE(result) << result.error().line();
        // Two stages of one chunk or two, forward and both gradients: no schedule ends before its stages have worked.
        const double work = 0.01 * 3 * (v ? 2 : 1) * plan.training.micro_batches;
        EXPECT_GT((*result)["simulated_s"].get<double>(), work - 1e-9) << schedule;
        ASSERT_EQ((*result)["step_s"].size(), 2U);
        for (const Json& step : (*result)["step_s"])
            EXPECT_GE(step.get<double>(), (*result)["simulated_s"].get<double>()) << schedule;
        for (const Json& share : (*result)["most_computed"])
            EXPECT_GT(share.get<double>(), 0) << schedule;
    }
}

} // namespace
} // namespace fourfold::testing
