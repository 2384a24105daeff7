// SPDX-License-Identifier: GPL-3.0-or-later
// Faults thrown at runs in the queue of a real Slurm of four nodes; the long label throws 200 at random.
#include "tests/cluster/fault_soak.h"
#include "tests/cluster/slurm.h"

#include <signal.h>

#include <chrono>
#include <memory>
#include <thread>

namespace fourfold::test {
namespace {

class SlurmFaults : public FaultSoak {
protected:
    void SetUp() override
    {
        if (const std::string why = why_no_slurm(); !why.empty())
            GTEST_SKIP() << why;
        cluster = std::make_unique<SlurmCluster>(4);
        ASSERT_TRUE(cluster->start());
    }
    void TearDown() override { cluster.reset(); }

    RunRequest asked(const std::map<std::string, std::string>& environment) override
    {
        RunRequest out = request(home, kRanks, environment);
        out.target = *target_from_json({{"kind", "slurm"}, {"base_folder", (home.path() / "shared").string()},
                                           {"slurm", {{"nodes", 4}, {"partition", "low"}}}},
            "slurm");
        out.target.stop_grace_s = 0.5;
        out.target.stall_s = 4;
        out.target.hang_s = 2;
        return out;
    }
    [[nodiscard]] std::filesystem::path node_folder() const override { return home.path() / "shared/runs" / id; }
    [[nodiscard]] std::vector<Streams> streams() const override { return {{"events.jsonl", "events.jsonl", "events"}}; }

    std::vector<Fault> faults()
    {
        const auto pause = [](int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); };
        const auto failing = [](const char* how) {
            return std::map<std::string, std::string>{{"FAKE_STEPS", "100000"}, {"FAKE_FAIL_RANK", "2"},
                {"FAKE_FAIL_STEP", "15"}, {"FAKE_HOW", how}, {"FAKE_CHILDREN", "1"}};
        };
        const std::map<std::string, std::string> endless{{"FAKE_STEPS", "100000"}};
        const std::map<std::string, std::string> long_enough{{"FAKE_STEPS", "700"}}; // for the controller to save it
        return {{"the client is killed (kill -9)", {}, RunState::ok, [this] { client->end(SIGKILL); }},
            {"the client sleeps for 3 s", {{"FAKE_STEPS", "200"}}, RunState::ok,
                [this, pause] {
                    client->signal(SIGSTOP);
                    pause(3000);
                    client->signal(SIGCONT);
                }},
            {"the job is cancelled by scancel", endless, RunState::cancelled,
                [this] { (void)cluster->run("scancel " + cluster->job()); }},
            {"the run is stopped", endless, RunState::cancelled, [this] { client->signal(SIGTERM); }},
            {"the client is killed, the job is cancelled", endless, RunState::cancelled,
                [this] {
                    client->end(SIGKILL);
                    (void)cluster->run("scancel " + cluster->job());
                }},
            {"the controller dies for 1 s", long_enough, RunState::ok,
                [this, pause] {
                    EXPECT_TRUE(cluster->job_is_saved());
                    cluster->kill_controller();
                    pause(1000);
                    cluster->start_controller();
                }},
            {"the controller dies, the client is killed", long_enough, RunState::ok,
                [this, pause] {
                    EXPECT_TRUE(cluster->job_is_saved());
                    cluster->kill_controller();
                    client->end(SIGKILL);
                    pause(1000);
                    cluster->start_controller();
                }},
            {"a node is set down", endless, RunState::lost,
                [this] { (void)cluster->run("scontrol update nodename=n4 state=down reason=test"); }, 5,
                [this] {
                    (void)cluster->run("scontrol update nodename=n4 state=resume");
                    EXPECT_TRUE(wait_until(
                        [&] { return cluster->run("sinfo -h -n n4 -o %T").find("idle") != std::string::npos; }, 60));
                }},
            {"a rank has a segmentation fault", failing("segv"), RunState::fail, {}},
            {"a rank is killed", failing("kill"), RunState::fail, {}},
            {"a rank exits", failing("exit37"), RunState::fail, {}},
            {"a rank runs out of memory", failing("oom"), RunState::oom, {}},
            {"a rank hangs",
                {{"FAKE_STEPS", "100"}, {"FAKE_FAIL_RANK", "0"}, {"FAKE_FAIL_STEP", "15"}, {"FAKE_HOW", "hang"}},
                RunState::hang, {}}};
    }

    std::unique_ptr<SlurmCluster> cluster;
};

TEST_F(SlurmFaults, NothingIsLostDoubledOrLeft)
{
    throw_all("# Random faults in a queue\nA Slurm of four nodes with a rank on each; written by\n"
              "`FOURFOLD_SOAK_REPORT=FILE build/release/tests/cluster_slurm_soak_test`.\n\n",
        faults(), FOURFOLD_SOAK_COUNT, 0);
}

} // namespace
} // namespace fourfold::test
