// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/pipeline_advice.h"
#include "core/schedule/schedules.h"

#include "tests/core/schedule/schedule_cases.h"

#include <algorithm>
#include <random>

namespace fourfold {
namespace {

double simulated(const Case& c, const ChunkTimes& chunk)
{
    return simulate(
        schedule_of(c), {std::vector<ChunkTimes>(std::size_t(c.pp * c.virtual_stages), chunk), 0}, c.virtual_stages)
        .length_s;
}

TEST(ClosedForm, AgreesWithTheSimulationOnRandomDurations)
{
    std::mt19937 random(11);
    std::uniform_real_distribution<double> seconds(0.1, 3.0);
    int compared = 0;
    for (const Case& c : cases()) {
        if (traits_of(c.schedule).length == nullptr)
            continue;
        SCOPED_TRACE(text(c));
        for (int i = 0; i < 5; ++i) {
            const double forward = seconds(random), input = seconds(random);
            const bool equal = c.schedule == Schedule::zb_v;
            const double weight = equal ? forward : std::min({forward, input, seconds(random)});
            const ChunkTimes chunk{forward, (equal ? forward : input) + weight, weight};
            const auto form = closed_form_length(c.schedule, c.pp, c.virtual_stages, c.micro_batches, chunk);
            ASSERT_TRUE(form.has_value());
            EXPECT_NEAR(*form, simulated(c, chunk), 1e-9 * *form);
            ++compared;
        }
    }
    EXPECT_GT(compared, 500);
}

// Idle shares as the papers write them, with B the whole backward of a stage.
TEST(ClosedForm, IdleSharesAreThoseOfThePapers)
{
    const double forward = 1, input = 1.1, weight = 0.9;
    for (int p : {2, 4, 8, 16}) {
        for (int m : {p, 2 * p, 3 * p, 8 * p}) {
            const double all = m * (forward + input + weight);
            const auto idle = [&](Schedule schedule, int v) {
                return *closed_form_idle_share(schedule, p, v, m, {forward / v, (input + weight) / v, weight / v});
            };
            // arXiv:1811.06965 section 2.3 and arXiv:2104.04473 section 2.2.1: (p - 1) / m of the ideal time.
            EXPECT_NEAR(idle(Schedule::gpipe, 1), (p - 1.0) / (m + p - 1), 1e-12);
            EXPECT_NEAR(idle(Schedule::one_f_one_b, 1), (p - 1.0) / (m + p - 1), 1e-12);
            // arXiv:2104.04473 section 2.2.2: (p - 1) / (v m) of the ideal time.
            for (int v : {2, 4}) {
                const double bubble = (p - 1.0) / (v * m);
                EXPECT_NEAR(idle(Schedule::interleaved, v), bubble / (1 + bubble), 1e-12);
            }
            // arXiv:2401.10241 table 2: (p - 1) (T_F + T_B - T_W).
            const double bubble = (p - 1) * (forward + input - weight);
            EXPECT_NEAR(idle(Schedule::zb_h1, 1), bubble / (all + bubble), 1e-12);
        }
    }
    // The advice k ~ 3 p of the lecture: about a quarter idle.
    const int k = kAdvisedMicroBatchesPerStage * 16;
    EXPECT_NEAR(*closed_form_idle_share(Schedule::one_f_one_b, 16, 1, k, {1, 2, 1}), 0.25, 0.015);
}

TEST(ClosedForm, IsSilentWhereItWouldBeWrong)
{
    // A long weight gradient: the tail of ZB-H1 waits for something else.
    const ChunkTimes long_weights{1, 3, 2};
    EXPECT_FALSE(closed_form_length(Schedule::zb_h1, 4, 1, 8, long_weights));
    EXPECT_GT(simulated({Schedule::zb_h1, 4, 1, 8}, long_weights), 8 * 4 + 3 * (1 + 1 - 2));
    EXPECT_FALSE(closed_form_length(Schedule::zb_v, 4, 2, 8, long_weights));
    EXPECT_FALSE(closed_form_length(Schedule::interleaved, 4, 2, 6, {1, 2, 1}));
    EXPECT_FALSE(closed_form_length(Schedule::gpipe, 4, 2, 8, {1, 2, 1}));
    EXPECT_FALSE(closed_form_length(Schedule::csv, 4, 1, 8, {1, 2, 1}));
    EXPECT_FALSE(closed_form_length(Schedule::gpipe, 4, 1, 0, {1, 2, 1}));
    EXPECT_FALSE(closed_form_idle_share(Schedule::gpipe, 4, 1, 8, {0, 0, 0}));
}

// Uneven stages: the busiest one sets the pace, and no formula of equal stages is below the simulation.
TEST(ClosedForm, OfTheMeanStageIsALowerBoundForUnevenStages)
{
    std::mt19937 random(3);
    std::uniform_real_distribution<double> seconds(0.5, 2.0);
    for (const Schedule schedule : {Schedule::gpipe, Schedule::one_f_one_b}) {
        for (int i = 0; i < 20; ++i) {
            ScheduleTimes times;
            ChunkTimes mean{};
            for (int s = 0; s < 4; ++s) {
                const double forward = seconds(random);
                times.chunks.push_back({forward, 2 * forward, forward});
                mean.forward_s += forward / 4;
                mean.backward_s += forward / 2;
            }
            const double length = simulate(schedule_of({schedule, 4, 1, 12}), times, 1).length_s;
            EXPECT_GE(length, *closed_form_length(schedule, 4, 1, 12, mean) - 1e-9);
        }
    }
}

// Activations kept, in micro-batches: a chunk's life lasts until its weight gradient.
TEST(ZeroBubble, KeepsNoMoreThanOneForwardOneBackwardsFirstStage)
{
    for (const Case& c : cases()) {
        if (c.pp == 1 || (c.schedule != Schedule::zb_h1 && c.schedule != Schedule::zb_v))
            continue;
        SCOPED_TRACE(text(c));
        const auto actions = schedule_of(c);
        for (const auto& list : actions) {
            int alive = 0, most = 0;
            for (const Action& a : list) {
                if (a.kind == ActionKind::forward)
                    most = std::max(most, ++alive);
                else if (a.kind == ActionKind::weight_gradient)
                    --alive;
            }
            EXPECT_EQ(alive, 0);
            EXPECT_LE(most, c.pp * c.virtual_stages);
            if (c.schedule == Schedule::zb_h1 && c.micro_batches >= 2 * c.pp) {
                EXPECT_EQ(most, c.pp) << "every stage holds what 1F1B's first stage does";
            }
        }
    }
}

// arXiv:2412.19437, table 2, for twice as many stages: PP + 1 chunks held. Of the bubble (PP / 2 - 1) (F&B + B - 3 W) a
// forward and a backward in turn, which take no longer than both, leave the way down the V.
TEST(DualPipe, HoldsOneChunkMoreThanAllStagesAndIdlesOnTheWayDown)
{
    for (int p : {2, 3, 4, 8, 16}) {
        for (int m : {2 * p, 3 * p, 120}) {
            const Case c{Schedule::dualpipe_v, p, 2, m};
            EXPECT_NEAR(simulated(c, {1, 2, 1}), 6.0 * m + (p - 1), 1e-9) << text(c);
            const double bubble = (p - 1) * (1 + 2 + 2 - 3.0); // F&B = F + B
            EXPECT_LE(simulated(c, {1, 2, 1}), 6.0 * m + bubble) << text(c);
            int most = 0;
            for (const auto& list : schedule_of(c)) {
                int alive = 0;
                for (const Action& a : list) {
                    alive += a.kind == ActionKind::forward ? 1 : a.kind == ActionKind::weight_gradient ? -1 : 0;
                    most = std::max(most, alive);
                }
            }
            EXPECT_EQ(most, 2 * p + 1) << text(c);
        }
    }
}

TEST(ZeroBubble, IdlesLessThanOneForwardOneBackward)
{
    for (int p : {2, 4, 8}) {
        const int m = 3 * p;
        const ChunkTimes stage{1, 2, 1}, half{0.5, 1, 0.5};
        const double plain = simulated({Schedule::one_f_one_b, p, 1, m}, stage);
        const double h1 = simulated({Schedule::zb_h1, p, 1, m}, stage);
        const double v = simulated({Schedule::zb_v, p, 2, m}, half);
        EXPECT_NEAR((h1 - 3.0 * m) / (plain - 3.0 * m), 1.0 / 3, 1e-9) << "a third of the bubble, as section 2.3 says";
        EXPECT_NEAR(v - 3.0 * m, (p - 1) * 0.5, 1e-9);
    }
}

} // namespace
} // namespace fourfold
