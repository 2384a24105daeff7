// SPDX-License-Identifier: GPL-3.0-or-later
// The whole loop with the real trainer: a tiny Llama on two loopback SSH nodes, 4 ranks, 50 steps.
#include "core/history/store.h"
#include "runner/protocol/message.h"
#include "tests/runner/sshd.h"

#include <algorithm>

namespace fourfold::test {
namespace {

class TrainerOverSsh : public testing::Test {
protected:
    void SetUp() override
    {
        if (const std::string why = why_no_sshd(); !why.empty())
            GTEST_SKIP() << why;
        first.start();
        second.start();
        observer.trust = true;
    }

    void train(bool reuse_files)
    {
        RunRequest asked = request(home, 4, {});
        asked.steps = 50;
        asked.trainer = std::filesystem::path(FOURFOLD_BIN_DIR) / "fourfold-trainer";
        asked.target = ssh_target(home, {&first, &second});
        asked.target.reuse_files = reuse_files;
        const auto result = launch(asked, observer, {});
        ASSERT_TRUE(result) << result.error().line();
        ASSERT_EQ(result->state, RunState::ok) << (result->problem ? result->problem->line() : "");
        EXPECT_EQ(processes_of(result->id), 0);
        expect_whole(observer.events, "ok");
        std::vector<int> expected(50);
        for (int i = 0; i < 50; ++i)
            expected[static_cast<std::size_t>(i)] = i + 1;
        EXPECT_EQ(steps_of(observer.events), expected);
        ASSERT_TRUE(result->measured_tps_per_gpu && result->predicted_tps_per_gpu);
        EXPECT_GT(*result->measured_tps_per_gpu, 0);
        const auto detail = HistoryStore::open(HistoryStore::default_file())->show(result->id);
        ASSERT_TRUE(detail);
        EXPECT_EQ(detail->summary.state, RunState::ok);
        ASSERT_TRUE(detail->summary.first_loss && detail->summary.last_loss);
        EXPECT_LT(*detail->summary.last_loss, *detail->summary.first_loss) << "it learns";
        EXPECT_EQ(detail->hosts.size(), 2u);
    }

    Home home;
    Sshd first{home, "node1"}, second{home, "node2"};
    Recording observer;
};

TEST_F(TrainerOverSsh, FiftyStepsOnFourRanks)
{
    train(true);
}

using TrainerUpload = TrainerOverSsh;

// All of LibTorch travels and the trainer runs from the node's store.
TEST_F(TrainerUpload, RunsFromWhatWasSent)
{
    train(false);
    EXPECT_TRUE(std::any_of(observer.staged.begin(), observer.staged.end(),
        [](const std::string& what) { return what.find("libtorch_cpu.so") != std::string::npos; }));
}

} // namespace
} // namespace fourfold::test
