// SPDX-License-Identifier: GPL-3.0-or-later
// What a run that is followed says of itself, in whatever order its messages come.
#include "app/view/runs/live_run.h"

#include <gtest/gtest.h>

namespace fourfold::view {
namespace {

Json step_event(int step)
{
    return {{"event", "step"}, {"step", step}, {"loss", 2.5}, {"tps_per_gpu", 1000.0}, {"step_time_s", 0.5}};
}

LiveRun started()
{
    LiveRun run;
    run.begin("plan", 100, {});
    return run;
}

TEST(LiveRun, AStepEndsWhatWasSaidOfTheStart)
{
    LiveRun run = started();
    EXPECT_EQ(run.state_text(), "Starting");
    run.take(step_event(1));
    EXPECT_EQ(run.state(), RunState::running);
    EXPECT_EQ(run.state_text(), "");
}

// What this computer has stored of a run is told before its nodes are reached.
TEST(LiveRun, AStepEndsCatchingUpAlsoBehindStoredSteps)
{
    LiveRun run = started();
    run.take(step_event(1));
    run.take(RunStateChange{RunState::running, "catching up"});
    EXPECT_EQ(run.state_text(), "catching up");
    run.take(step_event(2));
    EXPECT_EQ(run.state_text(), "");
}

TEST(LiveRun, AStepEndsAStall)
{
    LiveRun run = started();
    run.take(step_event(1));
    run.take(RunStateChange{RunState::running, "stalled: rank 1"});
    run.take(step_event(2));
    EXPECT_EQ(run.state_text(), "");
}

TEST(LiveRun, AWarningOutlastsSteps)
{
    LiveRun run = started();
    run.take(step_event(1));
    run.take(RunStateChange{RunState::running, "warning: the loss stands out"});
    run.take(step_event(2));
    EXPECT_EQ(run.state_text(), "warning: the loss stands out");
}

// Steps that were on their way say nothing against a stop.
TEST(LiveRun, AStepDoesNotTakeAStopBack)
{
    LiveRun run = started();
    run.take(RunStateChange{RunState::stopping, "stopped on request"});
    run.take(step_event(1));
    EXPECT_EQ(run.state(), RunState::stopping);
    EXPECT_EQ(run.state_text(), "stopped on request");
}

// How evenly a mixture of experts is loaded is drawn as it comes.
TEST(LiveRun, TheBusiestExpertIsALine)
{
    LiveRun run = started();
    run.take(step_event(1));
    EXPECT_TRUE(run.busiest_expert().empty());
    EXPECT_EQ(run.experts_text(), "");
    Json event = step_event(2);
    event["experts"] = {{"busiest", 1.5}, {"layer", 3}, {"idle", 2}, {"dropped", 0.25}};
    run.take(event);
    event["step"] = 3;
    event["experts"] = {{"busiest", 1.25}, {"layer", 0}, {"idle", 0}};
    EXPECT_EQ(run.experts_text(), "in layer 3; 2 experts without a token; 25.0 % of choices dropped");
    run.take(event);
    const std::vector<Series::Point> expected{{2, 1.5}, {3, 1.25}};
    EXPECT_EQ(run.busiest_expert().points(), expected);
    EXPECT_EQ(run.experts_text(), "in layer 0");
    event["experts"] = "no object";
    run.take(event);
    EXPECT_EQ(run.busiest_expert().count(), 2U);
}

// 98 steps of half a second on 16 GPUs; on one alone the hours say the same as the time.
TEST(LiveRun, SaysWhatTimeAndGpuHoursAreStillToGo)
{
    const auto said = [](int gpus) {
        LiveRun run;
        RunExpectation expectation;
        expectation.gpus = gpus;
        run.begin("plan", 100, expectation);
        run.take(step_event(1));
        run.take(step_event(2));
        for (const Figure& figure : run.figures()) {
            if (figure.title == "Steps")
                return figure.confidence;
        }
        return std::string();
    };
    EXPECT_EQ(said(16), "about 49 s left, 0.2178 GPU-hours");
    EXPECT_EQ(said(1), "about 49 s left");
}

} // namespace
} // namespace fourfold::view
