// SPDX-License-Identifier: GPL-3.0-or-later
// A run that follows a recipe has the losses that the recipe expects beside its own.
#include "app/view/curves/curve_runs.h"
#include "app/view/curves/expected_curves.h"
#include "app/view/runs/run_setup.h"
#include "tests/history/history_test_support.h"

#include <condition_variable>
#include <mutex>

namespace fourfold::view {
namespace {

ResolvedPlan recipe_plan()
{
    const Presets presets;
    return test::must(resolve(test::must(read_recipe("gpt2-124m", presets)).plan, presets));
}

NewRun run_of_recipe(const std::string& id)
{
    NewRun run = test::sample_run(id);
    run.plan = to_json(recipe_plan(), PresetStyle::inlined);
    return run;
}

class ExpectedCurves : public testing::Test {
protected:
    ExpectedCurves()
        : store(test::open_store(folder / "history.db"))
        , runs(folder / "history.db", [this] {
            const std::lock_guard lock(mutex);
            woken = true;
            changed.notify_all();
        })
    {
        for (const NewRun& run : {run_of_recipe("01RECIPE"), test::sample_run("01OTHER")}) {
            test::must(store.create_run(run));
            test::must(store.append_events(
                run.id, "events", {test::step_line(0, 1, 100, 11), test::step_line(1, 2, 100, 10.5)}));
        }
    }
    void choose(const std::vector<std::string>& ids)
    {
        std::vector<RunSummary> chosen;
        for (const std::string& id : ids)
            chosen.push_back(test::must(store.show(id)).summary);
        runs.choose(chosen);
        for (runs.read(); runs.is_reading(); runs.read()) {
            std::unique_lock lock(mutex);
            changed.wait(lock, [this] { return std::exchange(woken, false); });
            lock.unlock();
            std::string problem;
            runs.deliver(problem);
            EXPECT_EQ(problem, "");
        }
    }
    [[nodiscard]] std::vector<std::string> names() const
    {
        std::vector<std::string> names;
        for (const RunCurves::Entry& entry : runs.curves().entries())
            names.push_back(entry.name);
        return names;
    }

    test::TemporaryFolder folder;
    HistoryStore store;
    std::mutex mutex;
    std::condition_variable changed;
    bool woken = false;
    CurveRuns runs;
};

TEST_F(ExpectedCurves, StandBesideTheRunAndGoWithIt)
{
    choose({"01RECIPE", "01OTHER"});
    EXPECT_EQ(names(),
        (std::vector<std::string>{
            "tiny Llama \u00b7 RECIPE", "Expected: GPT-2 124M by llm.c on FineWeb", "tiny Llama \u00b7 1OTHER"}));
    EXPECT_EQ(runs.curves().count(), 2u) << "what is expected is no run";
    runs.curves().set_axis(CurveAxis::tokens);
    runs.curves().set_smoothing(0.9);
    const CurvePicture loss = runs.curves().picture(CurveMetric::loss, 1000);
    ASSERT_EQ(loss.lines.size(), 3u);
    // The end of the published run, at its number of tokens, however much the lines of runs are smoothed.
    EXPECT_NEAR(loss.lines[1].points.back().first, 19560 * 524288.0, 1);
    EXPECT_NEAR(loss.lines[1].points.back().second, 3.2722, 1e-6);
    EXPECT_TRUE(loss.lines[1].raw.empty());
    EXPECT_EQ(runs.curves().picture(CurveMetric::throughput, 1000).lines.size(), 2u) << "the loss alone is expected";

    choose({"01OTHER"});
    EXPECT_EQ(names(), (std::vector<std::string>{"tiny Llama"}));
}

// Steps take the axis of time as far as this run's speed takes it.
TEST_F(ExpectedCurves, HaveTheTimeOfTheRun)
{
    const RunDetail run = test::must(store.show("01RECIPE"));
    const auto curves = expected_curves(run, Presets());
    ASSERT_EQ(curves.size(), 1u);
    EXPECT_EQ(curves[0].step.size(), curves[0].seconds.size());
    const double step_s = run.steps.back().time_s;
    ASSERT_GT(step_s, 0);
    EXPECT_NEAR(curves[0].seconds.back(), 19560 * step_s, 1e-6 * 19560);
    EXPECT_TRUE(expected_curves(test::must(store.show("01OTHER")), Presets()).empty());
}

TEST_F(ExpectedCurves, ALiveRunExpectsTheFirstOfThem)
{
    const RunExpectation expected = expectation_of(predict(recipe_plan()));
    ASSERT_GT(expected.loss.size(), 20u);
    EXPECT_NEAR(expected.loss.back().first, 19560, 1e-9);
    EXPECT_EQ(expected.loss.back().second, 3.2722);
    EXPECT_EQ(expected.loss_of, "GPT-2 124M by llm.c on FineWeb");
    ResolvedPlan other = recipe_plan();
    other.run.lr *= 2;
    EXPECT_TRUE(expectation_of(predict(other)).loss.empty());
}

// What a run's charts draw has its range there, in the run and among its curves.
TEST(Expectation, HasTheRangesOfThroughputMemoryAndMfu)
{
    Prediction prediction = predict(recipe_plan());
    prediction.tps_per_gpu = 1000;
    prediction.mfu = 0.4;
    prediction.memory_gib = 20;
    prediction.interval = Interval{0.9, {0.9, 1.2}, {800, 1100}, {18, 24}};
    RunExpectation expected = expectation_of(prediction);
    ASSERT_TRUE(expected.tps_interval && expected.memory_interval && expected.mfu_interval);
    EXPECT_EQ(expected.memory_interval->low, 18);
    EXPECT_EQ(expected.memory_interval->high, 24);
    EXPECT_NEAR(expected.mfu_interval->low, 0.32, 1e-12) << "as the throughput's";
    EXPECT_NEAR(expected.mfu_interval->high, 0.44, 1e-12);
    RunDetail run;
    run.summary.id = "01RUN";
    run.prediction = to_json(prediction);
    const auto forecast = curve_run(run).forecasts[static_cast<std::size_t>(CurveMetric::mfu)];
    ASSERT_TRUE(forecast && forecast->interval);
    EXPECT_NEAR(forecast->interval->low, 32, 1e-9) << "per cent";
    EXPECT_NEAR(forecast->interval->high, 44, 1e-9);
    prediction.mfu.reset();
    prediction.interval.reset();
    expected = expectation_of(prediction);
    EXPECT_FALSE(expected.memory_interval || expected.mfu_interval);
}

} // namespace
} // namespace fourfold::view
