// SPDX-License-Identifier: GPL-3.0-or-later
// The last step of two stages by the clock: worked out by hand.
#include "core/rehearsal/step_timeline.h"

#include <gtest/gtest.h>

namespace fourfold::test {
namespace {

// Each stage computes one pass a step and hands over; then both sum up and update. Seconds: forward 2, the message 1,
// the reduction 0.5, the update 0.25.
std::vector<RankProgram> two_stages(int steps)
{
    std::vector<RankProgram> programs(2);
    for (int rank = 0; rank < 2; ++rank) {
        RankProgram& program = programs[std::size_t(rank)];
        program.rank = rank;
        program.wires = {{"pp/0to1", {0, 1}}, {"dp/0", {0, 1}}};
        double pending_s = 0;
        const auto step = [&](int what) {
            program.steps.push_back(what);
            program.work_s.push_back(std::exchange(pending_s, 0));
        };
        const auto ask = [&](WireOperation operation) {
            program.operations.push_back(std::move(operation));
            step(int(program.operations.size()) - 1);
        };
        const auto compute = [&] {
            const Action action{ActionKind::forward, 0, 0};
            program.passes.push_back({action, {program.steps.size(), pending_s}, {}});
            pending_s += 2;
            program.passes.back().end = {program.steps.size(), pending_s};
        };
        for (int i = 0; i < steps; ++i) {
            WireOperation message{.wire = 0, .kind = "send_receive", .type = "Float", .elements = 4};
            message.messages = {{rank == 0, 1 - rank, 4}};
            message.seconds = 1;
            if (rank == 0)
                compute();
            ask(message);
            if (rank == 1) {
                step(~(int(program.operations.size()) - 1));
                compute();
            }
            WireOperation sum{.wire = 1, .kind = "all_reduce", .type = "Float", .elements = 4, .reduction = "sum"};
            sum.seconds = 0.5;
            ask(sum);
            step(~(int(program.operations.size()) - 1));
            pending_s += 0.25;
        }
        program.last_work_s = pending_s;
    }
    return programs;
}

TEST(StepTimeline, IsWhatTheClockSays)
{
    const auto programs = two_stages(2);
    const auto matched = match_programs(programs, {8, false});
    ASSERT_TRUE(matched) << matched.error().line();
    // A step takes 2 + 1 + 2 + 0.5 + 0.25; the second begins with the update of the first still to be done.
    const std::vector<LastStep> steps{
        {{programs[0].steps.size() / 2, 0.25}, 0}, {{programs[1].steps.size() / 2, 0.25}, 1}};
    const Timeline timeline = step_timeline(programs, *matched, steps);
    EXPECT_DOUBLE_EQ(timeline.length_s, 5.75);
    EXPECT_EQ(timeline.stages, 2);
    struct Wanted {
        int stage;
        SpanKind kind;
        double begin_s, end_s;
    };
    const Wanted wanted[] = {{0, SpanKind::forward, 0, 2}, {0, SpanKind::gradient_reduce, 2, 5.5},
        {0, SpanKind::optimizer, 5.5, 5.75}, {1, SpanKind::send_receive, 0, 3}, {1, SpanKind::forward, 3, 5},
        {1, SpanKind::gradient_reduce, 5, 5.5}, {1, SpanKind::optimizer, 5.5, 5.75}};
    ASSERT_EQ(timeline.spans.size(), std::size(wanted));
    for (std::size_t i = 0; i < std::size(wanted); ++i) {
        EXPECT_EQ(timeline.spans[i].stage, wanted[i].stage) << i;
        EXPECT_EQ(timeline.spans[i].kind, wanted[i].kind) << i;
        EXPECT_NEAR(timeline.spans[i].start_s, wanted[i].begin_s, 1e-12) << i;
        EXPECT_NEAR(timeline.spans[i].end_s, wanted[i].end_s, 1e-12) << i;
    }
}

// Nothing of a step is in two spans, and none is out of order.
TEST(StepTimeline, ARankWithoutATrackCountsForTheLengthAlone)
{
    auto programs = two_stages(2);
    programs[1].last_work_s += 10;
    const auto matched = match_programs(programs, {8, false});
    ASSERT_TRUE(matched) << matched.error().line();
    const Timeline timeline = step_timeline(
        programs, *matched, {{{programs[0].steps.size() / 2, 0.25}, 0}, {{programs[1].steps.size() / 2, 0.25}, -1}});
    EXPECT_DOUBLE_EQ(timeline.length_s, 15.75);
    EXPECT_EQ(timeline.stages, 1);
    for (std::size_t i = 1; i < timeline.spans.size(); ++i)
        EXPECT_GE(timeline.spans[i].start_s, timeline.spans[i - 1].end_s);
}

} // namespace
} // namespace fourfold::test
