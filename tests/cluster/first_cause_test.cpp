// SPDX-License-Identifier: GPL-3.0-or-later
// Real ranks under their agents, on one node and on two over SSH: where a failure began is what the user reads.
#include "tests/runner/sshd.h"

#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <fstream>

namespace fourfold::test {
namespace {

class FirstCauseOfTraining : public testing::TestWithParam<int> { // nodes
protected:
    void SetUp() override
    {
        if (const std::string why = why_no_sshd(); GetParam() > 1 && !why.empty())
            GTEST_SKIP() << why;
        if (GetParam() > 1) {
            first.start();
            second.start();
        }
    }
    void TearDown() override
    {
        if (mounted)
            umount2(disk().c_str(), MNT_DETACH);
    }
    [[nodiscard]] std::filesystem::path disk() const { return home.path() / "disk"; }

    RunRequest asked(int steps)
    {
        RunRequest out = request(home, 4, {});
        out.steps = steps;
        out.trainer = std::filesystem::path(FOURFOLD_BIN_DIR) / "fourfold-trainer";
        if (GetParam() > 1)
            out.target = ssh_target(home, {&first, &second});
        out.target.reuse_files = true;
        return out;
    }
    // Every round: the run fails, and its line says `what`.
    void each_round(const RunRequest& asked, const std::string& what, const std::function<void(Recording&)>& spoil = {})
    {
        for (int round = 0; round < FOURFOLD_ROUNDS; ++round) {
            Recording observer;
            observer.trust = true;
            if (spoil)
                spoil(observer);
            const auto result = launch(asked, observer, {});
            ASSERT_TRUE(result) << result.error().line();
            EXPECT_EQ(result->state, RunState::fail);
            ASSERT_TRUE(result->problem);
            EXPECT_NE(result->problem->line().find(what), std::string::npos)
                << "round " << round << ": " << result->problem->line();
            EXPECT_EQ(processes_of(result->id), 0);
        }
    }
    std::filesystem::path corpus(std::size_t bytes, std::size_t bad_at = std::string::npos)
    {
        const auto file = home.path() / "tokens.txt";
        std::string text(bytes, 'a');
        if (bad_at < bytes)
            text[bad_at] = 'z';
        std::ofstream(file, std::ios::binary) << text;
        return file;
    }

    Home home;
    Sshd first{home, "node1"}, second{home, "node2"};
    bool mounted = false;
};

TEST_P(FirstCauseOfTraining, AFullDiskAtACheckpoint)
{
    std::filesystem::create_directories(disk());
    if (geteuid() != 0 || mount("tmpfs", disk().c_str(), "tmpfs", 0, "size=256k,mode=700") != 0)
        GTEST_SKIP() << "a small file system of one's own needs root and mount(2)";
    mounted = true;
    RunRequest full = asked(9); // only the last save makes it fail
    full.plan.run.checkpoint.every = 3;
    full.plan.run.checkpoint.path = (disk() / "checkpoints").string();
    each_round(full, "cannot write it: No space left on device");
}

TEST_P(FirstCauseOfTraining, ABadToken)
{
    RunRequest bad = asked(100000);
    bad.plan.run.data[0].path = corpus(20000, 9000).string();
    bad.plan.model.vocab = bad.plan.padded_vocab = 'b';
    each_round(bad, "token 122 at position 9000 is outside the model's vocabulary of 98");
}

TEST_P(FirstCauseOfTraining, ATruncatedCheckpoint)
{
    RunRequest whole = asked(2);
    whole.plan.run.checkpoint.every = 2;
    whole.plan.run.checkpoint.path = (home.path() / "checkpoints").string();
    Recording observer;
    observer.trust = true;
    const auto written = launch(whole, observer, {});
    ASSERT_TRUE(written && written->state == RunState::ok);
    std::filesystem::path file; // one of as many as ranks have a part to write
    for (const auto& entry : std::filesystem::directory_iterator(home.path() / "checkpoints/step-00000002")) {
        if (entry.path().filename().string().starts_with("optimizer-00001-of-"))
            file = entry.path();
    }
    std::filesystem::resize_file(file, 1000);
    RunRequest resumed = asked(5);
    resumed.plan.run.checkpoint.load = (home.path() / "checkpoints").string();
    each_round(resumed, file.filename().string() + ": damaged: it has 1000 bytes");
}

TEST_P(FirstCauseOfTraining, AKilledRank)
{
    each_round(asked(1000000), "rank 3 (tp 1, cp 0, pp 0, dp 1) on ", [](Recording& observer) {
        observer.each_event = [&observer](const Json& event) {
            if (const pid_t rank = event.value("step", 0) == 5 ? rank_process(observer.id, 3) : 0; rank > 0)
                kill(rank, SIGKILL);
        };
    });
}

INSTANTIATE_TEST_SUITE_P(Nodes, FirstCauseOfTraining, testing::Values(1, 2));

} // namespace
} // namespace fourfold::test
