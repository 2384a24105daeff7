// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/run_settings.h"

#include <gtest/gtest.h>

namespace fourfold {
namespace {

RunSettings with(LrSchedule schedule)
{
    RunSettings run;
    run.lr = 1.0;
    run.min_lr = 0.1;
    run.warmup_steps = 10;
    run.lr_schedule = schedule;
    return run;
}

TEST(RunSettings, WarmUpIsLinearAndReachesTheRate)
{
    for (const auto schedule : {LrSchedule::constant, LrSchedule::linear, LrSchedule::cosine, LrSchedule::wsd}) {
        const RunSettings run = with(schedule);
        EXPECT_DOUBLE_EQ(run.learning_rate(0, 110), 0.1);
        EXPECT_DOUBLE_EQ(run.learning_rate(4, 110), 0.5);
        EXPECT_DOUBLE_EQ(run.learning_rate(9, 110), 1.0);
        EXPECT_DOUBLE_EQ(run.learning_rate(10, 110), 1.0);
    }
}

TEST(RunSettings, SchedulesEndAtTheMinimum)
{
    for (const auto schedule : {LrSchedule::linear, LrSchedule::cosine, LrSchedule::wsd})
        EXPECT_NEAR(with(schedule).learning_rate(110, 111), 0.1, 1e-12);
    EXPECT_DOUBLE_EQ(with(LrSchedule::constant).learning_rate(110, 111), 1.0);
}

TEST(RunSettings, HalfWay)
{
    EXPECT_NEAR(with(LrSchedule::linear).learning_rate(60, 111), 0.55, 1e-12);
    EXPECT_NEAR(with(LrSchedule::cosine).learning_rate(60, 111), 0.55, 1e-12);
    EXPECT_NEAR(with(LrSchedule::cosine).learning_rate(35, 111), 0.1 + 0.45 * (1 + 0.70710678118654752), 1e-12);
    EXPECT_DOUBLE_EQ(with(LrSchedule::wsd).learning_rate(60, 111), 1.0);
    EXPECT_DOUBLE_EQ(with(LrSchedule::wsd).learning_rate(79, 100), 1.0);
    EXPECT_LT(with(LrSchedule::wsd).learning_rate(81, 100), 1.0);
}

TEST(RunSettings, RatesStayBetweenZeroAndTheRate)
{
    for (const auto schedule : {LrSchedule::constant, LrSchedule::linear, LrSchedule::cosine, LrSchedule::wsd}) {
        for (const int total : {1, 2, 5, 11, 100}) {
            for (int step = 0; step < total; ++step) {
                const double rate = with(schedule).learning_rate(step, total);
                EXPECT_GT(rate, 0);
                EXPECT_LE(rate, 1.0);
            }
        }
    }
}

TEST(RunSettings, NoWarmUp)
{
    RunSettings run = with(LrSchedule::linear);
    run.warmup_steps = 0;
    EXPECT_DOUBLE_EQ(run.learning_rate(0, 11), 1.0);
    EXPECT_NEAR(run.learning_rate(5, 11), 0.55, 1e-12);
    EXPECT_DOUBLE_EQ(run.learning_rate(0, 1), 1.0);
}

} // namespace
} // namespace fourfold
