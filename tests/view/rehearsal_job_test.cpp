// SPDX-License-Identifier: GPL-3.0-or-later
// A rehearsal in the background of a front end, with a script for the trainer: progress, culprit, stop, no trainer.
#include "app/view/rehearsal/rehearsal_job.h"
#include "core/plan/presets.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <fstream>

namespace fourfold::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kFailed = R"({"fourfold_rehearsal": 1, "ranks": 16, "rehearsed": 16, "steps": 2,
"verdict": "failed", "fits": true, "deadlock": true, "problem": "rank 3 waits", "problems": ["rank 3 waits", "rank 1 waits"],
"at_once": null, "step_time_s": null, "capacity_gib": 80, "stages": [{"pp": 0, "rank": 0, "peak_tensors_gib": 1.5,
"reserved_gib": 2, "step_flops": 1e12, "launches": 7, "traffic": [{"operation": "all_reduce", "count": 3}]}]})";

class RehearsalJob : public ::testing::Test {
protected:
    void SetUp() override
    {
        Expected<Plan> plan = plan_from_json(
            Json{{"model", "llama-3.1-8b"}, {"cluster", "dgx-h100"}, {"gpus", 16}, {"stack", "fourfold"},
                {"layout", {{"tp", 2}, {"pp", 2}}}, {"training", {{"global_batch", 64}, {"schedule", "1f1b"}}}},
            "plan");
        ASSERT_TRUE(plan);
        Expected<ResolvedPlan> resolved = resolve(*plan, Presets());
        ASSERT_TRUE(resolved) << resolved.error().line();
        plan_ = *std::move(resolved);
    }
    std::filesystem::path trainer(const std::string& script) const
    {
        const std::filesystem::path file = folder_ / "trainer";
        std::ofstream(file) << "#!/bin/sh\n" << script;
        std::filesystem::permissions(file, std::filesystem::perms::owner_all);
        return file;
    }
    void wake()
    {
        const std::scoped_lock lock(mutex_);
        woken_ = true;
        awake_.notify_one();
    }
    // Delivers until `holds`; false where that takes too long.
    template <typename Holds>
    bool until(view::RehearsalJob& job, const Holds& holds)
    {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (std::chrono::steady_clock::now() < end) {
            job.deliver();
            if (holds())
                return true;
            std::unique_lock lock(mutex_);
            awake_.wait_until(lock, end, [&] { return woken_; });
            woken_ = false;
        }
        return false;
    }
    TemporaryFolder folder_;
    ResolvedPlan plan_;
    std::mutex mutex_;
    std::condition_variable awake_;
    bool woken_ = false;
};

TEST_F(RehearsalJob, TellsHowFarItIsAndThenWhoIsToBlame)
{
    view::RehearsalJob job([this] { wake(); });
    job.start(plan_,
        trainer("echo '{\"rehearsed\": 0, \"of\": 16, \"reserved_gib\": 0}'\n"
                "echo '{\"rehearsed\": 4, \"of\": 16, \"reserved_gib\": 12.5}'\n"
                "while [ ! -e "
            + (folder_ / "go").string() + " ]; do sleep 0.01; done\ncat <<'END' | tr '\\n' ' '\n" + kFailed
            + "\nEND\necho\n"));
    EXPECT_EQ(job.progress_text(), "The trainer is starting");
    ASSERT_TRUE(until(job, [&] { return job.share() == 0.25; })) << job.progress_text();
    EXPECT_EQ(job.progress_text(), "4 of 16 ranks rehearsed, 12.5 GiB at most");
    EXPECT_FALSE(job.outcome());
    std::ofstream(folder_ / "go") << "";
    ASSERT_TRUE(until(job, [&] { return job.outcome().has_value(); }));
    EXPECT_FALSE(job.is_running());
    EXPECT_EQ(job.outcome()->tone, view::Tone::bad);
    EXPECT_EQ(job.outcome()->headline, "Would not run: ranks wait for each other for ever");
    EXPECT_THAT(job.outcome()->culprits, ElementsAre("rank 3 waits", "rank 1 waits"));
    ASSERT_TRUE(job.outcome()->stages);
    EXPECT_EQ(job.outcome()->stages->rows.size(), 1U);
    EXPECT_THAT(job.outcome()->text(), HasSubstr("rank 3 waits\nrank 1 waits\n"));
    EXPECT_THAT(job.outcome()->text(), HasSubstr("TP 2"));
    // Where a table has no room its stages are read one by one, each figure with its name.
    EXPECT_THAT(job.outcome()->text(), HasSubstr("collectives per step  messages per step"));
    EXPECT_THAT(job.outcome()->text(60), Not(HasSubstr("collectives per step  messages per step")));
    EXPECT_THAT(
        job.outcome()->text(60), ContainsRegex("stage 0: tensors [0-9.]+ GiB, reserved .*collectives per step "));
}

TEST_F(RehearsalJob, StopsAtOnceAndSaysThatNothingIsProven)
{
    view::RehearsalJob job([this] { wake(); });
    job.start(plan_, trainer("echo '{\"rehearsed\": 1, \"of\": 16, \"reserved_gib\": 3}'\nexec sleep 60\n"));
    ASSERT_TRUE(until(job, [&] { return job.share() > 0; }));
    ResolvedPlan other = plan_;
    other.training.micro_batch = 2;
    EXPECT_TRUE(job.is_of(plan_));
    EXPECT_FALSE(job.is_of(other)) << "what it says is no answer to that";
    EXPECT_THAT(job.plan(), HasSubstr("TP 2"));
    job.cancel();
    EXPECT_FALSE(job.is_running());
    ASSERT_TRUE(job.outcome());
    EXPECT_EQ(job.outcome()->headline, "Nothing is proven");
    EXPECT_EQ(job.outcome()->tone, view::Tone::neutral);
    // The next one is not mixed up with it.
    job.start(plan_, folder_ / "none");
    EXPECT_FALSE(job.outcome());
    ASSERT_TRUE(until(job, [&] { return job.outcome().has_value(); }));
    EXPECT_THAT(job.outcome()->verdict, HasSubstr("the trainer program does not exist"));
    EXPECT_EQ(job.outcome()->tone, view::Tone::bad);
}

} // namespace
} // namespace fourfold::test
