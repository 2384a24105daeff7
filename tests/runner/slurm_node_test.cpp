// SPDX-License-Identifier: GPL-3.0-or-later
// One node of a Slurm job with a real agent and no Slurm: its programs are fakes, its signals are sent by the test.
#include "core/base/json.h"
#include "core/base/random_token.h"
#include "runner/protocol/message.h"
#include "runner/protocol/run_spec.h"
#include "tests/runner/support.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <fstream>

namespace fourfold::test {
namespace {

class SlurmNodeTest : public testing::Test {
protected:
    SlurmNodeTest()
    {
        spec.run = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
        spec.host = "a node";
        spec.address = "127.0.0.1";
        spec.world_size = 2;
        spec.ranks = {{0, 0, {{"tp", 0}}}, {1, 1, {{"tp", 1}}}};
        spec.program = "bin/fake-trainer";
        spec.files = {{spec.program, {}, 0, std::filesystem::canonical(fake_trainer()).string()}};
        spec.plan = {{"model", "m"}};
        spec.environment = {{"FAKE_STEPS", "1000000"}, {"FAKE_SAVE_MS", "500"}};
        spec.grace_s = 0.1;
        spec.saves = true;
        std::filesystem::create_directories(folder / "slurm");
        for (auto each = folder; each != home.path(); each = each.parent_path())
            chmod(each.c_str(), 0700);
    }
    ~SlurmNodeTest() override
    {
        if (agent > 0) {
            kill(agent, SIGKILL);
            waitpid(agent, nullptr, 0);
        }
    }
    // What scontrol says of the job: its state and reason, and the seconds that are left to it.
    void slurm_says(const std::string& state, const std::string& reason, double left_s) const
    {
        const std::time_t end = std::time(nullptr) + static_cast<std::time_t>(left_s);
        std::tm local{};
        char text[40];
        localtime_r(&end, &local);
        (void)std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &local);
        const auto made = home.path() / "scontrol.new";
        std::ofstream(made) << "#!/bin/sh\necho asked >> " << asked_file.string()
                            << "\necho 'JobId=7 JobState=" << state << " Reason=" << reason
                            << " Restarts=0 EndTime=" << text << "'\n";
        chmod(made.c_str(), 0700);
        std::filesystem::create_directories(home.path() / "programs");
        std::filesystem::rename(made, home.path() / "programs/scontrol");
    }
    // Until the ranks step. `attempt`: how often the job was queued again.
    void start(int attempt = 0)
    {
        std::ofstream(folder / "slurm/spec0.json") << to_json(spec);
        std::ofstream(folder / "slurm/token") << random_token(32);
        chmod((folder / "slurm/token").c_str(), 0600);
        agent = fork();
        if (agent == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (const auto& [name, value] :
                {std::pair{"SLURM_JOB_ID", "7"}, {"SLURM_NODEID", "0"}, {"SLURM_JOB_NODELIST", "n1"},
                    {"SLURMD_NODENAME", "n1"}, {"SLURM_LAUNCH_NODE_IPADDR", "127.0.0.1"}})
                setenv(name, value, 1);
            setenv("SLURM_RESTART_COUNT", std::to_string(attempt).c_str(), 1);
            setenv("PATH", ((home.path() / "programs").string() + ":" + std::getenv("PATH")).c_str(), 1);
            execl(agent_program().c_str(), "fourfold-agent", "slurm-node", folder.c_str(), nullptr);
            _exit(127);
        }
        if (attempt > 0)
            folder += "A" + std::to_string(attempt);
        ASSERT_TRUE(wait_until([&] { return !last_event(events(), "step").empty(); }));
    }
    [[nodiscard]] std::vector<Json> events() const { return read_events(folder / "events.jsonl"); }
    // The `end` event, when the agent has ended.
    Json end()
    {
        waitpid(agent, nullptr, 0);
        agent = 0;
        return last_event(events(), "end");
    }
    [[nodiscard]] int saved() const
    {
        return std::filesystem::exists(folder / "saved0.whole") + std::filesystem::exists(folder / "saved1.whole");
    }
    [[nodiscard]] bool is_told() const { return std::filesystem::exists(folder / "stop.json"); }

    Home home;
    RunSpec spec;
    std::filesystem::path folder = home.path() / "shared/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV";
    const std::filesystem::path asked_file = home.path() / "asked";
    pid_t agent = 0;
};

// Slurm's early sign: the run goes on until what is left is what its save takes, and then saves.
TEST_F(SlurmNodeTest, ARunSavesAheadOfItsTimeLimit)
{
    spec.environment["FAKE_CHECKPOINT"] = "/c"; // it took half a second
    slurm_says("RUNNING", "None", 60 + 600);
    start();
    kill(agent, SIGURG);
    ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(asked_file); }));
    usleep(500000);
    EXPECT_FALSE(is_told()) << "the first save took half a second, so that there is time";
    kill(agent, SIGTERM); // somebody's scancel
    EXPECT_EQ(text_field(end(), "status"), "cancelled");
    EXPECT_EQ(saved(), 2);
}

// What is not saved is not passed over because the run was to end anyway.
TEST_F(SlurmNodeTest, ARankThatDiesWhileItSavesIsNamed)
{
    spec.environment["FAKE_SAVE_MS"] = "1500";
    slurm_says("CANCELLED", "None", 3600);
    start();
    kill(agent, SIGTERM);
    ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(folder / "saved1"); }));
    kill(rank_process(spec.run, 1), SIGKILL);
    EXPECT_EQ(text_field(end(), "status"), "cancelled");
    EXPECT_EQ(saved(), 1);
    EXPECT_EQ(text_field(last_event(events(), "warning"), "message"),
        "rank 1 ended (signal 9) while it was to save a checkpoint");
}

TEST_F(SlurmNodeTest, ARunThatHasSavedNothingYetIsStoppedAsEarlyAsASaveMayTake)
{
    slurm_says("RUNNING", "None", 60 + 500);
    start();
    usleep(300000);
    EXPECT_FALSE(std::filesystem::exists(asked_file)) << "Slurm is not asked before its sign";
    kill(agent, SIGURG);
    const Json ended = end();
    EXPECT_EQ(text_field(ended, "status"), "fail");
    EXPECT_NE(text_field(ended, "message").find("comes to its time limit"), std::string::npos) << ended;
    EXPECT_EQ(saved(), 2) << "whole";
}

// The sign may have been missed: as much as Slurm's KillWait allows is still saved.
TEST_F(SlurmNodeTest, TheLimitItselfLeavesTimeToSave)
{
    slurm_says("COMPLETING", "TimeLimit", 0);
    start();
    kill(agent, SIGTERM);
    const Json ended = end();
    EXPECT_EQ(text_field(ended, "status"), "fail");
    EXPECT_NE(text_field(ended, "message").find("reached its time limit"), std::string::npos) << ended;
    EXPECT_EQ(saved(), 2);
}

// A preempted job that is queued again goes on from what it has saved.
TEST_F(SlurmNodeTest, AnotherAttemptGoesOnFromTheCheckpoint)
{
    // Fails unless its plan loads something.
    spec.environment = {{"FAKE_STEPS", "3"}, {"FAKE_FAIL_RANK", "0"}, {"FAKE_FAILS_UNLOADED", "1"}};
    for (const int step : {100, 200})
        std::ofstream(folder / "events.jsonl", std::ios::app)
            << Json{{"event", "checkpoint"}, {"step", step}, {"path", "/shared/c/step-" + std::to_string(step)}}
            << "\n";
    start(2); // nothing is known of the first further attempt
    EXPECT_EQ(text_field(end(), "status"), "ok");
    const auto plan = read_json_file(folder / "plan.json");
    ASSERT_TRUE(plan);
    const Json& checkpoint = (*plan)["run"]["checkpoint"];
    EXPECT_EQ(checkpoint["load"], "/shared/c");
    EXPECT_EQ(checkpoint["path"], "/shared/c");
    EXPECT_EQ(checkpoint["from_last_good"], true);
}

TEST_F(SlurmNodeTest, AnotherAttemptWithoutACheckpointBeginsAnew)
{
    spec.environment = {{"FAKE_STEPS", "3"}, {"FAKE_FAIL_RANK", "0"}, {"FAKE_FAILS_UNLOADED", "1"}};
    start(1);
    EXPECT_EQ(text_field(end(), "status"), "fail");
}

TEST_F(SlurmNodeTest, ALostNodeLeavesNothingToSaveFor)
{
    spec.environment["FAKE_SAVE_MS"] = "60000";
    slurm_says("COMPLETING", "NodeDown", 3600);
    start();
    kill(agent, SIGTERM);
    EXPECT_EQ(text_field(end(), "status"), "lost");
    EXPECT_EQ(saved(), 0);
}

} // namespace
} // namespace fourfold::test
