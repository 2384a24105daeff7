// SPDX-License-Identifier: GPL-3.0-or-later
// Runs laid over each other: smoothing, the few points of a picture, axes, groups with their bands, live steps.
#include "app/view/curves/run_curves.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace fourfold::view {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

std::vector<float> noise(std::size_t count, unsigned seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(3, 1);
    std::vector<float> values(count);
    for (float& value : values)
        value = normal(random);
    return values;
}

std::vector<double> steps(std::size_t count)
{
    std::vector<double> out(count);
    std::iota(out.begin(), out.end(), 1.0);
    return out;
}

// A run of 4 sequences x 8 tokens per step whose loss is `loss`.
CurveRun run_of(const std::string& id, const std::string& name, const std::vector<float>& loss)
{
    CurveRun run;
    run.id = id;
    run.name = name;
    run.training.global_batch = 4;
    run.training.seq_len = 8;
    for (std::size_t i = 0; i < loss.size(); ++i) {
        StepValues values;
        values.loss = loss[i];
        values.mfu = 0.25;
        run.append(static_cast<int>(i) + 1, 2.0 * static_cast<double>(i), values);
    }
    return run;
}

// TensorBoard's rule written out: weights w^k of the k-th value before, made to add up to 1.
TEST(Smoother, EqualsTheWeightedMeanOfAllBefore)
{
    std::vector<float> values = noise(60, 1);
    values[0] = values[7] = kNone;
    for (const double weight : {0.0, 0.6, 0.99}) {
        Smoother smoother(weight);
        for (std::size_t i = 0; i < values.size(); ++i) {
            double sum = 0, weights = 0, power = 1;
            for (std::size_t k = i + 1; k-- > 0;) {
                if (std::isnan(values[k]))
                    continue;
                sum += power * values[k];
                weights += power;
                power *= weight;
            }
            const float now = smoother.take(values[i]);
            if (std::isnan(values[i]))
                EXPECT_TRUE(std::isnan(now));
            else
                EXPECT_NEAR(now, sum / weights, 1e-5) << "weight " << weight << ", value " << i;
        }
    }
}

// Each column's least and greatest value survive, nothing else comes in, and the points stay few.
TEST(DrawnPoints, KeepLeastAndGreatestOfEachColumn)
{
    constexpr int kPixels = 37;
    const std::vector<float> y = noise(10'000, 2);
    const std::vector<double> x = steps(y.size());
    const CurveRange range{1, 10'000};
    const std::vector<CurvePoint> points = drawn_points(x, y, range, kPixels);
    EXPECT_LE(points.size(), std::size_t(2 * kPixels + 2));
    EXPECT_TRUE(std::ranges::is_sorted(points, {}, &CurvePoint::first));
    const auto column = [&](double at) {
        return std::min(kPixels - 1, static_cast<int>((at - range.low) * kPixels / range.length()));
    };
    std::vector<CurveRange> wanted(kPixels, {1e9, -1e9}), got = wanted;
    for (std::size_t i = 0; i < x.size(); ++i)
        wanted[static_cast<std::size_t>(column(x[i]))].take(y[i]);
    for (const auto& [at, value] : points) {
        EXPECT_EQ(value, y[static_cast<std::size_t>(at) - 1]);
        got[static_cast<std::size_t>(column(at))].take(value);
    }
    EXPECT_EQ(got, wanted);
}

TEST(DrawnPoints, GoOnToTheNeighboursOutsideAndLeaveOutWhatIsMissing)
{
    const std::vector<double> x = steps(10);
    const std::vector<float> y{1, 2, kNone, 4, 5, 6, kNone, kNone, 9, 10};
    const std::vector<CurvePoint> all = drawn_points(x, y, {1, 10}, 500);
    EXPECT_EQ(all.size(), 7u);
    const std::vector<CurvePoint> wanted{{2, 2}, {4, 4}, {5, 5}, {6, 6}, {9, 9}};
    EXPECT_EQ(drawn_points(x, y, {4, 6.5}, 500), wanted);
    EXPECT_TRUE(drawn_points({}, {}, {1, 10}, 500).empty());
    EXPECT_TRUE(drawn_points(x, y, {1, 10}, 0).empty());
    EXPECT_EQ(drawn_points(std::vector<double>{5}, std::vector<float>{7}, {5, 5}, 100).size(), 1u);
}

TEST(ColumnMeans, AreMeansOrLieOnTheLineBetween)
{
    const std::vector<double> x{0, 1, 2, 8};
    const std::vector<float> y{2, 4, 6, 18};
    const std::vector<double> means = column_means(x, y, {0, 10}, 5); // columns of 2
    EXPECT_DOUBLE_EQ(means[0], 3); // 0 and 1
    EXPECT_DOUBLE_EQ(means[1], 6); // 2
    EXPECT_DOUBLE_EQ(means[2], 12); // at 5, between (2, 6) and (8, 18)
    EXPECT_DOUBLE_EQ(means[3], 16); // at 7
    EXPECT_DOUBLE_EQ(means[4], 18); // 8
    EXPECT_TRUE(std::isnan(column_means(x, y, {0, 20}, 5)[4]));
}

TEST(RunCurves, AxesAreStepsTokensAndTime)
{
    RunCurves curves;
    curves.add(run_of("a", "one", {5, 4, 3}));
    EXPECT_EQ(curves.picture(CurveMetric::loss, 100).x, (CurveRange{1, 3}));
    curves.set_axis(CurveAxis::tokens); // 4 x 8 a step
    EXPECT_EQ(curves.picture(CurveMetric::loss, 100).x, (CurveRange{32, 96}));
    curves.set_axis(CurveAxis::time);
    EXPECT_EQ(curves.picture(CurveMetric::loss, 100).x, (CurveRange{0, 4}));
    EXPECT_EQ(curves.picture(CurveMetric::mfu, 100).y, (CurveRange{25, 25})); // per cent
    EXPECT_TRUE(curves.picture(CurveMetric::gradient_norm, 100).lines.empty()); // nobody told
}

// Batches of 2, 2, 3, 3 and then 4 sequences, counted by hand: the batch grows each 4 samples.
TEST(RunCurves, TokensFollowARampUp)
{
    CurveRun run;
    run.training.global_batch = 4;
    run.training.seq_len = 10;
    run.training.ramp_up = RampUp{2, 1, 8};
    for (int step = 1; step <= 7; ++step)
        run.append(step, step, {});
    EXPECT_EQ(run.tokens, (std::vector<double>{20, 40, 70, 100, 140, 180, 220}));
}

TEST(RunCurves, ColoursStayWhenOthersGo)
{
    RunCurves curves;
    for (const char* id : {"a", "b", "c"})
        curves.add(run_of(id, "same", {1, 2}));
    curves.keep({"b", "c"});
    curves.add(run_of("d", "other", {1, 2}));
    std::vector<std::pair<std::string, std::size_t>> seen;
    for (const CurveLine& line : curves.picture(CurveMetric::loss, 100).lines)
        seen.emplace_back(line.name, line.colour);
    EXPECT_EQ(seen,
        (std::vector<std::pair<std::string, std::size_t>>{{"same \u00b7 b", 1}, {"same \u00b7 c", 2}, {"other", 0}}));
    curves.set_shown("c", false);
    EXPECT_EQ(curves.picture(CurveMetric::loss, 100).lines.size(), 2u);
    EXPECT_EQ(curves.entries().size(), 3u);
}

TEST(RunCurves, RepeatsHaveAMeanAndABand)
{
    RunCurves curves;
    CurveRun first = run_of("a", "seed 1", {4, 4, 4, 4}), second = run_of("b", "seed 2", {8, 6, 8, 6});
    CurveRun other = run_of("c", "another plan", {1, 1, 1, 1});
    first.plan = second.plan = "p";
    other.plan = "q";
    other.tags = {"slow", "wide"};
    second.tags = {"wide"};
    for (CurveRun* run : {&first, &second, &other})
        curves.add(*run);
    curves.set_groups(CurveGroups::plan);
    const CurvePicture picture = curves.picture(CurveMetric::loss, 300);
    ASSERT_EQ(picture.lines.size(), 2u);
    const CurveLine& group = picture.lines[0];
    EXPECT_EQ(group.runs, 2u);
    ASSERT_EQ(group.low.size(), group.points.size());
    EXPECT_DOUBLE_EQ(group.points.front().second, 6);
    EXPECT_DOUBLE_EQ(group.low.front().second, 4);
    EXPECT_DOUBLE_EQ(group.high.front().second, 8);
    EXPECT_DOUBLE_EQ(group.high.back().second, 6);
    EXPECT_TRUE(picture.lines[1].low.empty()); // alone, it has no band
    curves.set_groups(CurveGroups::tag);
    std::vector<std::size_t> runs;
    for (const RunCurves::Entry& entry : curves.entries())
        runs.push_back(entry.runs);
    EXPECT_EQ(runs, (std::vector<std::size_t>{1, 2, 1})); // untagged a; wide; slow
}

TEST(RunCurves, LiveStepsGoOnWhereTheStoredOnesEnd)
{
    RunCurves curves;
    curves.add(run_of("a", "one", {5, 4}));
    curves.set_smoothing(0.5);
    (void)curves.picture(CurveMetric::loss, 100); // smoothed so far
    const auto event = [](int step, double loss) {
        return Json{{"event", "step"}, {"step", step}, {"loss", loss}, {"step_time_s", 3.0}};
    };
    EXPECT_FALSE(curves.append("a", event(2, 99))); // it is stored
    EXPECT_FALSE(curves.append("b", event(3, 99)));
    EXPECT_FALSE(curves.append("a", Json{{"event", "eval"}, {"step", 3}, {"loss", 1}}));
    EXPECT_FALSE(curves.append("a", Json{{"event", "step"}, {"step", "3"}}));
    EXPECT_TRUE(curves.append("a", event(3, 1)));
    const CurvePicture picture = curves.picture(CurveMetric::loss, 100);
    EXPECT_NEAR(picture.lines[0].points.back().second, (1 + 0.5 * 4 + 0.25 * 5) / 1.75, 1e-6);
    EXPECT_DOUBLE_EQ(picture.lines[0].raw.back().second, 1);
    curves.set_axis(CurveAxis::time);
    EXPECT_DOUBLE_EQ(curves.picture(CurveMetric::loss, 100).x.high, 5); // 2 s, and 3 s more
}

TEST(RunCurves, TheForecastIsShownWhereItIsEverybodys)
{
    RunCurves curves;
    CurveRun first = run_of("a", "one", {1, 2}), second = run_of("b", "two", {1, 2});
    const CurveForecast forecast{25, CurveRange{20, 30}};
    first.forecasts[4] = second.forecasts[4] = forecast;
    curves.add(first);
    curves.add(second);
    EXPECT_EQ(curves.picture(CurveMetric::mfu, 100).forecast, forecast);
    second.forecasts[4] = CurveForecast{26, {}};
    curves.add(second);
    EXPECT_FALSE(curves.picture(CurveMetric::mfu, 100).forecast);
    curves.set_shown("b", false);
    EXPECT_EQ(curves.picture(CurveMetric::mfu, 100).forecast, forecast);
}

} // namespace
} // namespace fourfold::view
