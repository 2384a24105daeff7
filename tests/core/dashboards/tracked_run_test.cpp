// SPDX-License-Identifier: GPL-3.0-or-later
// Runs of TensorBoard and Weights & Biases, read while they grow, torn and damaged. That what their own packages write
// is read too: dashboards_test.cpp.
#include "core/dashboards/dashboard.h"
#include "core/dashboards/tracked_run.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <map>

namespace fourfold {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

Json step_event(int step)
{
    char time[40]; // as long as two minutes and seconds of any number
    std::snprintf(time, sizeof time, "2026-01-01T00:%02d:%02d.000Z", step / 60, step % 60);
    return {{"event", "step"}, {"time", time}, {"step", step}, {"loss", 8.0 / step}, {"tps_per_gpu", 1000 + step}};
}

std::string bytes_of(const fs::path& file)
{
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void put(const fs::path& file, std::string_view bytes)
{
    std::ofstream(file, std::ios::binary | std::ios::app) << bytes;
}

using Values = std::map<std::string, std::vector<std::pair<std::int64_t, double>>>;

class Tracked : public testing::TestWithParam<Tracker> {
protected:
    // Writes a run of `steps`; the second W&B record is larger than a block of its log.
    fs::path write(int steps) const
    {
        const DashboardRun run{"01RUN", "A run", {{"large", std::string(80'000, 'x')}}};
        const auto board = GetParam() == Tracker::tensorboard ? tensorboard_file(folder.path(), run)
                                                              : weights_and_biases_run(folder.path(), run);
        for (int step = 1; step <= steps; ++step)
            EXPECT_TRUE(board->add(step_event(step)));
        EXPECT_TRUE(board->finish());
        const auto places = tracked_runs(folder.path());
        EXPECT_TRUE(places && places->size() == 1);
        for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
            if (entry.is_regular_file())
                return entry.path();
        }
        return {};
    }
    // What one more look at the run gives.
    Expected<Values> look(TrackedRun& run)
    {
        Values values;
        auto read = run.read(
            [&](const TrackedValue& value) { values[std::string(value.tag)].emplace_back(value.step, value.value); },
            [&] {
                values.clear();
                ++begun;
            });
        return read ? Expected<Values>(std::move(values)) : Expected<Values>(read.error());
    }

    test::TemporaryFolder folder;
    int begun = 0; // how often all came again
};

TEST_P(Tracked, AGrowingFileGivesEachValueOnceWhereverItIsTorn)
{
    constexpr int kSteps = 300;
    const fs::path file = write(kSteps);
    const std::string whole = bytes_of(file);
    ASSERT_GT(whole.size(), 10'000u);
    TrackedRun run(tracked_runs(file)->front());
    fs::resize_file(file, 0);
    std::size_t at = 0, reads = 0;
    std::size_t losses = 0;
    for (std::size_t piece = 1; at < whole.size(); piece = piece * 7 % 1009 + 1, ++reads) {
        put(file, std::string_view(whole).substr(at, piece));
        at += std::min(piece, whole.size() - at);
        const auto values = look(run);
        ASSERT_TRUE(values) << values.error().line();
        if (!values->contains("train/loss"))
            continue;
        for (const auto& [step, loss] : values->at("train/loss")) {
            EXPECT_EQ(step, std::int64_t(++losses));
            EXPECT_NEAR(loss, 8.0 / double(step), 1e-6);
        }
    }
    EXPECT_GT(reads, 20u);
    EXPECT_EQ(losses, std::size_t(kSteps));
    EXPECT_EQ(run.left_out(), 0u);
    EXPECT_EQ(begun, 0);
    EXPECT_EQ(run.name(), GetParam() == Tracker::tensorboard ? "A run 01RUN" : "A run");
}

TEST_P(Tracked, AFileThatBeganAnewIsReadAgain)
{
    const fs::path file = write(20);
    TrackedRun run(tracked_runs(file)->front());
    ASSERT_EQ(look(run)->at("train/loss").size(), 20u);
    EXPECT_TRUE(look(run)->empty());
    const std::string whole = bytes_of(file);
    // Made beside the old file: one made after it is gone may get the number that it had.
    put(file.parent_path() / "anew", whole);
    fs::rename(file.parent_path() / "anew", file);
    EXPECT_EQ(look(run)->at("train/loss").size(), 20u);
    EXPECT_EQ(begun, 1);
    fs::remove_all(file.parent_path());
    const auto gone = look(run);
    ASSERT_FALSE(gone);
    EXPECT_THAT(gone.error().line(), HasSubstr(GetParam() == Tracker::tensorboard ? "01RUN" : ".wandb"));
}

TEST_P(Tracked, ADamagedRecordIsLeftOut)
{
    const fs::path file = write(2000);
    std::string whole = bytes_of(file);
    const std::size_t middle = whole.find("train/loss", whole.size() / 2);
    whole[middle] = static_cast<char>(whole[middle] ^ 0x10);
    fs::remove(file);
    put(file, whole);
    TrackedRun run(tracked_runs(file)->front());
    const auto values = look(run);
    ASSERT_TRUE(values) << values.error().line();
    const auto& losses = values->at("train/loss");
    EXPECT_LT(losses.size(), 2000u);
    EXPECT_GT(losses.size(), 1000u) << "what is behind it is read";
    EXPECT_EQ(losses.back().first, 2000);
    EXPECT_EQ(run.left_out(), 1u);
}

TEST_P(Tracked, WhatIsNoneIsSaidInOneLine)
{
    const fs::path file = write(3);
    fs::resize_file(file, 0);
    put(file, std::string(5000, 'x'));
    TrackedRun run(tracked_runs(file)->front());
    const auto refused = look(run);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().line(), HasSubstr("is no "));
    const auto none = tracked_runs("/proc/self/fdinfo");
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error().line(), HasSubstr("holds no run"));
    EXPECT_TRUE(may_hold_tracked_runs(file));
    EXPECT_TRUE(may_hold_tracked_runs(folder.path()));
    EXPECT_FALSE(may_hold_tracked_runs("/proc/self/fdinfo"));
}

INSTANTIATE_TEST_SUITE_P(Dashboards, Tracked, testing::Values(Tracker::tensorboard, Tracker::weights_and_biases));

TEST(TrackedRuns, AFolderOfBothHasEachOnceInOrder)
{
    const test::TemporaryFolder folder;
    for (const char* run : {"b/second", "a/first", "a/first/eval"}) {
        fs::create_directories(folder.path() / run);
        put(folder.path() / run / "events.out.tfevents.1.host.7.0", "");
        put(folder.path() / run / "events.out.tfevents.2.host.7.1", ""); // resumed
    }
    fs::create_directories(folder.path() / "wandb/run-1/files");
    put(folder.path() / "wandb/run-1/run-1.wandb", "");
    put(folder.path() / "wandb/run-1/files/output.log", "no run");
    const auto places = tracked_runs(folder.path());
    ASSERT_TRUE(places) << places.error().line();
    std::vector<std::string> names;
    for (const TrackedPlace& place : *places)
        names.push_back(place.name);
    EXPECT_THAT(names, testing::ElementsAre("a/first/eval", "a/first", "b/second", "wandb/run-1/run-1.wandb"));
    EXPECT_EQ(tracked_runs(folder.path() / "b/second")->front().name, "second");
    EXPECT_EQ(tracked_runs(folder.path() / "b/second/")->size(), 1u);
}

// Of a folder that is full of something else not everything is looked at: that is said.
TEST(TrackedRuns, AHugeFolderIsLookedAtInPart)
{
    const test::TemporaryFolder folder;
    for (int i = 0; i < 20; ++i)
        put(folder.path() / std::to_string(i), "");
    const auto places = tracked_runs(folder.path(), 10);
    ASSERT_FALSE(places);
    EXPECT_THAT(places.error().line(), HasSubstr("among its first 10 files"));
    EXPECT_EQ(tracked_runs(folder.path()).error().line().find("among"), std::string::npos) << "all were looked at";
}

} // namespace
} // namespace fourfold
