// SPDX-License-Identifier: GPL-3.0-or-later
// Runs of trackers among the curves of the history.
#include "app/view/curves/curve_runs.h"
#include "core/dashboards/dashboard.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>

#include <cmath>
#include <condition_variable>
#include <mutex>

namespace fourfold::view {
namespace {

using ::testing::HasSubstr;

TEST(TrackerTags, HaveTheMeaningsThatTrainersGiveThem)
{
    for (const auto& [tag, metric] : std::vector<std::pair<const char*, std::optional<CurveMetric>>>{
             {"train/loss", CurveMetric::loss}, {"Loss/train", CurveMetric::loss}, {"lm loss", CurveMetric::loss},
             {"loss_metrics/global_avg_loss", CurveMetric::loss}, {"model/lm_loss", CurveMetric::loss},
             {"grad-norm", CurveMetric::gradient_norm}, {"optim.grad_norm", CurveMetric::gradient_norm},
             {"iteration-time", CurveMetric::step_time}, {"time_metrics/end_to_end(s)", CurveMetric::step_time},
             {"throughput(tps)", CurveMetric::throughput}, {"speed/tps_per_gpu", CurveMetric::throughput},
             {"mfu(%)", CurveMetric::mfu}, {"perf/mfu", CurveMetric::mfu}, {"train/num_input_tokens_seen", {}}}) {
        const auto meaning = meaning_of_tag(tag);
        ASSERT_TRUE(meaning) << tag;
        EXPECT_EQ(meaning->metric, metric) << tag;
    }
    for (const char* tag : {"eval/loss", "val_loss", "validation/loss", "lm loss vs samples", "load_balancing_loss",
             "lr", "throughput", "train/epoch", "loss_scale"})
        EXPECT_FALSE(meaning_of_tag(tag)) << tag;
    EXPECT_LT(meaning_of_tag("train/loss")->rank, meaning_of_tag("loss")->rank);
    EXPECT_TRUE(meaning_of_tag("mfu(%)")->per_cent);
}

class Trackers : public testing::Test {
protected:
    test::TemporaryFolder folder;
    std::mutex mutex;
    std::condition_variable woken;
    bool is_woken = false;
    CurveRuns runs{folder.path() / "history.db", [this] {
                       const std::scoped_lock lock(mutex);
                       is_woken = true;
                       woken.notify_one();
                   }};

    // Looks once at all that is open; what was wrong with one.
    std::string look()
    {
        runs.trackers().read();
        std::unique_lock lock(mutex);
        woken.wait(lock, [this] { return is_woken; });
        is_woken = false;
        lock.unlock();
        std::string problem;
        news = runs.deliver(problem);
        return problem;
    }
    bool news = false;

    static Json event(int step)
    {
        char time[32];
        std::snprintf(time, sizeof time, "2026-01-01T00:00:%02d.000Z", step);
        return {{"event", "step"}, {"time", time}, {"step", step}, {"loss", 8.0 / step}, {"mfu", 0.5},
            {"tokens", 1000.0 * step}};
    }
};

TEST_F(Trackers, TheirRunsStandBesideTheHistorysAndGrow)
{
    const auto board = tensorboard_file(folder.path() / "logs", {"first", "", Json()});
    const auto wandb = weights_and_biases_run(folder.path() / "logs", {"abc", "brisk-wind", Json()});
    for (int step = 1; step <= 10; ++step) {
        ASSERT_TRUE(board->add(event(step)));
        ASSERT_TRUE(wandb->add(event(step)));
    }
    const auto opened = runs.trackers().open(folder.path() / "logs");
    ASSERT_TRUE(opened) << opened.error().line();
    EXPECT_EQ(*opened, 2u);
    EXPECT_EQ(look(), "");
    EXPECT_TRUE(news);
    EXPECT_EQ(runs.curves().count(), 2u);
    std::vector<std::string> names;
    for (const RunCurves::Entry& entry : runs.curves().entries())
        names.push_back(entry.name);
    EXPECT_THAT(names, testing::UnorderedElementsAre("first (TensorBoard)", "brisk-wind (W&B)"));
    const std::string id = runs.trackers().ids().front();
    EXPECT_EQ(runs.curves().steps_of(id), 10u);
    const CurvePicture losses = runs.curves().picture(CurveMetric::loss, 400);
    ASSERT_EQ(losses.lines.size(), 2u);
    EXPECT_NE(losses.lines[0].colour, losses.lines[1].colour);
    EXPECT_NEAR(losses.lines[0].points.back().second, 0.8, 1e-6);
    EXPECT_NEAR(runs.curves().picture(CurveMetric::mfu, 400).y.high, 50, 1e-4) << "in per cent, as the charts have it";
    EXPECT_TRUE(runs.curves().picture(CurveMetric::gradient_norm, 400).lines.empty());
    runs.curves().set_axis(CurveAxis::tokens);
    EXPECT_EQ(runs.curves().whole()->high, 10'000);
    runs.curves().set_axis(CurveAxis::time);
    EXPECT_EQ(runs.curves().whole()->high, 9);

    EXPECT_EQ(look(), "");
    EXPECT_FALSE(news) << "nothing came";
    ASSERT_TRUE(board->add(event(11)));
    look();
    EXPECT_TRUE(news);
    EXPECT_EQ(*runs.curves().steps_of((folder.path() / "logs/first").string()), 11u);

    // What is chosen of the history changes nothing of them; closed they are gone.
    EXPECT_FALSE(runs.choose({}));
    RunSummary stored;
    stored.id = "01RUN";
    EXPECT_TRUE(runs.choose({stored}));
    EXPECT_EQ(runs.curves().count(), 2u);
    runs.close_tracker(id);
    EXPECT_EQ(runs.curves().count(), 1u);
    EXPECT_FALSE(runs.trackers().has(id));
    EXPECT_EQ(runs.trackers().paths().size(), 1u) << "the folder still has an open run";
    runs.close_tracker(runs.trackers().ids().front());
    EXPECT_TRUE(runs.trackers().paths().empty());
}

TEST_F(Trackers, WhatCannotBeReadIsSaidOnce)
{
    const auto board = tensorboard_file(folder.path() / "logs", {"first", "", Json()});
    ASSERT_TRUE(board->add(event(1)));
    ASSERT_TRUE(runs.trackers().open(folder.path() / "logs"));
    std::filesystem::remove_all(folder.path() / "logs");
    EXPECT_THAT(look(), HasSubstr("has no event file any more"));
    EXPECT_EQ(look(), "");
    const auto none = runs.trackers().open(folder.path());
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error().line(), HasSubstr("holds no run"));
}

} // namespace
} // namespace fourfold::view
