// SPDX-License-Identifier: GPL-3.0-or-later
// A run that is killed while it saves leaves the last checkpoint as it was.
#include "runner/trainer/checkpoint/contents.h"
#include "runner/trainer/checkpoint/names.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <gtest/gtest.h>

#include <csignal>
#include <random>
#include <thread>

namespace fourfold::testing {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

TEST(KilledWhileItSaves, EveryCheckpointIsWhole)
{
    const TemporaryFolder folder;
    const auto tokens = write_tokens(folder.path());
    const fs::path all = folder.path() / "all";
    std::mt19937 random(4);
    int newest = 0, partial = 0;
    for (int kill = 0; kill < FOURFOLD_KILLS; ++kill) {
        const fs::path run = folder.path() / ("run" + std::to_string(kill));
        fs::create_directories(run);
        std::vector<std::string> assignments{"gpus=2", "layout.pp=2", "run.steps=1000000", "run.checkpoint.every=1",
            "run.checkpoint.path=\"" + all.string() + "\""};
        if (newest > 0)
            assignments.push_back("run.checkpoint.load=\"" + all.string() + "\"");
        Ranks ranks(
            2, {trainer_program(), "--plan", write_plan(tiny_plan(tokens, assignments), run), "--run-dir", run}, run);
        ASSERT_TRUE(ranks.wait_for_events(0, "checkpoint", 1 + int(random() % 3), 100s))
            << ranks.log(0) << ranks.log(1);
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 50000));
        ranks.signal(int(random() % 2), SIGKILL);
        ranks.signal(0, SIGKILL);
        ranks.signal(1, SIGKILL);
        ranks.wait(60s);

        const auto steps = trainer::step_folders(all);
        ASSERT_GE(steps.size(), 1u);
        for (const auto& [step, path] : steps) {
            const auto contents = trainer::CheckpointContents::open(path);
            ASSERT_TRUE(contents) << contents.error().line();
            EXPECT_EQ(contents->steps, step);
        }
        EXPECT_GT(steps.rbegin()->first, newest);
        newest = steps.rbegin()->first;
        for (const auto& entry : fs::directory_iterator(all))
            partial += entry.path().extension() == ".partial";
    }
    RecordProperty("kills_while_saving", partial);
}

} // namespace
} // namespace fourfold::testing
