// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/history/clock.h"
#include "core/history/headline.h"

#include <gtest/gtest.h>

namespace fourfold::history {
namespace {

std::vector<StepFigures> steps(const std::vector<double>& tps)
{
    std::vector<StepFigures> result;
    for (std::size_t i = 0; i < tps.size(); ++i)
        result.push_back({static_cast<int>(i) + 1, tps[i], 1000 / tps[i]});
    return result;
}

TEST(Headline, IsEmptyWithoutFigures)
{
    EXPECT_FALSE(headline({}, std::nullopt).tps_per_gpu);
    EXPECT_FALSE(headline({{1, std::nullopt, 2.0}}, std::nullopt).tps_per_gpu);
    EXPECT_EQ(headline({}, 90).rule, "");
}

TEST(Headline, DropsTheFirstFifthAndAtLeastOneStep)
{
    struct Case {
        std::vector<double> tps;
        double median;
        const char* rule;
    };
    const Case cases[] = {
        {{7}, 7, "step 1"},
        {{7, 9}, 9, "step 2"},
        {{1, 8, 10}, 9, "median of steps 2..3"},
        {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 6.5, "median of steps 3..10"},
        {{100, 100, 1, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3}, 3, "median of steps 3..14"},
    };
    for (const Case& c : cases) {
        const Headline result = headline(steps(c.tps), std::nullopt);
        EXPECT_EQ(result.tps_per_gpu, c.median) << c.rule;
        EXPECT_EQ(result.rule, c.rule);
    }
}

TEST(Headline, SpreadIsTheMiddleFourFifthsOverTheMedian)
{
    // After the first two of eleven steps: 10, 20 ... 90; p10 = 18, p90 = 82, median 50.
    const Headline result = headline(steps({1, 1, 10, 20, 30, 40, 50, 60, 70, 80, 90}), std::nullopt);
    EXPECT_DOUBLE_EQ(*result.tps_per_gpu, 50);
    EXPECT_DOUBLE_EQ(*result.spread, (82.0 - 18.0) / 50);
    EXPECT_DOUBLE_EQ(*result.step_time_s, 20);
}

TEST(Headline, ReadsOneStepWhenAsked)
{
    EXPECT_EQ(headline(steps({1, 2, 3}), 3).tps_per_gpu, 3);
    EXPECT_EQ(headline(steps({1, 2, 3}), 3).rule, "step 3");
    EXPECT_EQ(headline(steps({1, 2, 4}), 90).rule, "median of steps 2..3") << "that step was never reached";
}

TEST(Headline, TakesTheLaterOfARepeatedStep)
{
    EXPECT_EQ(headline({{5, 10.0, 1.0}, {5, 20.0, 0.5}}, 5).tps_per_gpu, 20);
}

TEST(Clock, ReadsWhatItWrites)
{
    EXPECT_EQ(seconds_of("1970-01-02T00:00:01.250Z"), 86401.25);
    EXPECT_EQ(seconds_of("2026-01-01T00:00:00Z"), 1767225600.0);
    EXPECT_TRUE(seconds_of(now_text()));
    EXPECT_EQ(now_text().size(), std::string("2026-01-01T00:00:00.000Z").size());
    for (const char* bad : {"", "yesterday", "2026-01-01", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00",
             "2026-01-01T00:00:00.5+01:00", "2026-01-01T25:00:00Z", "2026-02-30T00:00:00Z", "1969-12-31T23:59:59Z",
             "2026-1-1T00:00:00Z", "2026-01-01 00:00:00Z", "+026-01-01T00:00:00Z"})
        EXPECT_FALSE(seconds_of(bad)) << bad;
}

} // namespace
} // namespace fourfold::history
