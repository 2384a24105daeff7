// SPDX-License-Identifier: GPL-3.0-or-later
// Where a failure began is told, once, and all others say that they only heard of it: FOURFOLD_ROUNDS times each.
#include "runner/trainer/checkpoint/names.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/trained.h"

#include <gmock/gmock.h>

#include <csignal>
#include <fstream>
#include <thread>

namespace fourfold::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class TrainerFirstCause : public ::testing::Test {
protected:
    void SetUp() override { tokens = write_tokens(folder.path()); }

    // Every round: `spoil` makes it fail, then exactly one rank tells `what`, and it is `who` (-1: any).
    void each_round(
        const ResolvedPlan& plan, const std::function<void(Ranks&)>& spoil, int who, const std::string& what)
    {
        for (int round = 0; round < FOURFOLD_ROUNDS; ++round) {
            const fs::path run = folder.path() / ("round" + std::to_string(round));
            fs::create_directories(run);
            Ranks ranks(plan.gpus, {trainer_program(), "--plan", write_plan(plan, run), "--run-dir", run}, run);
            spoil(ranks);
            const auto statuses = ranks.wait(200s);
            write_tokens(folder.path()); // as it was
            std::vector<Json> errors;
            for (int rank = 0; rank < plan.gpus; ++rank)
                for (const Json& event : ranks.events(rank))
                    if (event["event"] == "error")
                        errors.push_back(event);
            ASSERT_EQ(errors.size(), 1u) << "round " << round << "\n" << Json(errors).dump(1);
            EXPECT_THAT(errors[0]["message"].get<std::string>(), HasSubstr(what)) << "round " << round;
            if (who >= 0)
                EXPECT_EQ(errors[0]["rank"], who) << "round " << round;
            const std::string teller = "rank " + std::to_string(errors[0]["rank"].get<int>());
            for (int rank = 0; rank < plan.gpus; ++rank)
                if (rank != errors[0]["rank"] && statuses[std::size_t(rank)] < 128)
                    EXPECT_THAT(ranks.log(rank), HasSubstr("stopped, as another rank failed: " + teller))
                        << "round " << round;
        }
    }

    TemporaryFolder folder;
    fs::path tokens;
};

// Rank 1 alone cannot write its part of the last checkpoint, nor of those before: they stop nothing.
TEST_F(TrainerFirstCause, AFullDiskOfOneRank)
{
    const auto plan = tiny_plan(tokens, {"gpus=2", "layout.pp=2", "run.checkpoint.every=2"});
    each_round(
        plan, [](Ranks& ranks) { ranks.limit_file_size(1, 8192); }, 1, "cannot write it: File too large");
    for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
        EXPECT_NE(entry.path().extension(), ".partial") << "what was begun gives its room back";
}

// A disk that was full in between: said at once, nothing stops, and the next save is whole.
TEST_F(TrainerFirstCause, ADiskThatIsFullForAWhile)
{
    const auto plan = tiny_plan(tokens, {"gpus=2", "layout.pp=2", "run.steps=1000000", "run.checkpoint.every=20"});
    const fs::path run = folder.path() / "run";
    fs::create_directories(run);
    Ranks ranks(2, {trainer_program(), "--plan", write_plan(plan, run), "--run-dir", run}, run);
    ASSERT_TRUE(ranks.wait_for_events(0, "checkpoint", 1, 100s)) << ranks.log(0) << ranks.log(1);
    ranks.limit_file_size(1, 8192);
    ASSERT_TRUE(ranks.wait_for_events(0, "warning", 1, 100s)) << ranks.log(0) << ranks.log(1);
    ranks.limit_file_size(1, SIZE_MAX);
    const auto count = [&](const char* kind) {
        return std::ranges::count_if(ranks.events(0), [&](const Json& event) { return event["event"] == kind; });
    };
    ASSERT_TRUE(ranks.wait_for_events(0, "checkpoint", int(count("checkpoint")) + 1, 100s)) << ranks.log(0);
    // Slurm signals the ranks of a job, and so does their agent when it has heard why.
    for (int sender = 0; sender < 2; ++sender) {
        ranks.signal(0, SIGTERM);
        std::this_thread::sleep_for(1ms);
    }
    EXPECT_EQ(ranks.wait(100s), (std::vector<int>{143, 143})) << ranks.log(0) << ranks.log(1);
    int steps = 0, saved = 0;
    for (const Json& event : ranks.events(0)) {
        EXPECT_NE(event["event"], "error");
        if (event["event"] == "step")
            EXPECT_EQ(event["step"], ++steps) << "none is missing";
        if (event["event"] == "checkpoint")
            saved = event["step"];
        if (event["event"] == "warning")
            EXPECT_THAT(event["message"].get<std::string>(),
                AllOf(HasSubstr("there is no checkpoint of step"), HasSubstr("cannot write it: File too large"),
                    HasSubstr("the training goes on")));
    }
    EXPECT_EQ(saved, steps) << "SIGTERM saves";
    EXPECT_TRUE(fs::exists(run / "checkpoints" / trainer::step_name(steps) / "checksums.json"));
}

TEST_F(TrainerFirstCause, AFullDiskOfRankZero)
{
    const auto plan = tiny_plan(tokens, {"gpus=2", "layout.pp=2", "run.checkpoint.every=2"});
    each_round(
        plan, [](Ranks& ranks) { ranks.limit_file_size(0, 32768); }, 0, "cannot write it: File too large");
}

// Two replicas read different samples: the first that comes to the token fails, and takes its connections along.
TEST_F(TrainerFirstCause, ABadToken)
{
    auto plan = tiny_plan(tokens, {"gpus=4", "layout.dp=2", "layout.tp=2", "run.steps=1000000"});
    const fs::path bad = folder.path() / "bad.bin"; // short: every other sample comes to it
    fs::copy_file(tokens, bad);
    fs::resize_file(bad, 2 * 60);
    std::fstream file(bad, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(2 * 20).put(77);
    file.close();
    plan.run.data[0].path = bad.string();
    each_round(
        plan, [](Ranks&) {}, -1, "token 77 at position 20 is outside the model's vocabulary of 61");
}

TEST_F(TrainerFirstCause, ATokenFileThatBecomesShorter)
{
    const auto plan = tiny_plan(tokens, {"gpus=2", "layout.dp=2", "run.steps=1000000"});
    const auto size = fs::file_size(tokens);
    each_round(
        plan,
        [&](Ranks& ranks) {
            EXPECT_TRUE(ranks.wait_for_events(0, "step", 2, 100s)) << ranks.log(0);
            fs::resize_file(tokens, 6);
        },
        -1, "it became shorter while it was read: it had " + std::to_string(size) + " bytes");
}

TEST_F(TrainerFirstCause, ATruncatedCheckpoint)
{
    const auto written = train(tiny_plan(tokens, {"run.steps=2", "run.checkpoint.every=2"}), folder.path() / "written");
    ASSERT_EQ(written.problem, "");
    const fs::path optimizer = fs::path(written.checkpoints.at(2)) / "optimizer-00001-of-00001.safetensors";
    fs::resize_file(optimizer, fs::file_size(optimizer) / 2);
    const auto plan
        = tiny_plan(tokens, {"gpus=2", "layout.dp=2", "run.checkpoint.load=\"" + written.checkpoints.at(2) + "\""});
    each_round(
        plan, [](Ranks&) {}, -1, optimizer.string() + ": damaged: it has ");
}

TEST_F(TrainerFirstCause, AFinishedCheckpoint)
{
    const auto written = train(tiny_plan(tokens, {"run.steps=2", "run.checkpoint.every=2"}), folder.path() / "written");
    const auto plan = tiny_plan(
        tokens, {"gpus=2", "layout.dp=2", "run.steps=2", "run.checkpoint.load=\"" + written.checkpoints.at(2) + "\""});
    each_round(
        plan, [](Ranks&) {}, -1, "the checkpoint has finished 2 steps");
}

TEST_F(TrainerFirstCause, AKilledRank)
{
    const auto plan = tiny_plan(tokens, {"gpus=3", "layout.dp=3", "training.global_batch=6", "run.steps=1000000"});
    each_round(
        plan,
        [](Ranks& ranks) {
            EXPECT_TRUE(ranks.wait_for_events(0, "step", 2, 100s)) << ranks.log(0);
            ranks.signal(2, SIGKILL);
        },
        -1, "lost rank 2, without a sign of life");
}

} // namespace
} // namespace fourfold::testing
