// SPDX-License-Identifier: GPL-3.0-or-later
// Whole runs in the queue of a real Slurm of four nodes: ends, failures, and what Slurm does to jobs.
#include "core/history/store.h"
#include "core/plan/presets.h"
#include "runner/preflight/cluster_match.h"
#include "runner/protocol/message.h"
#include "runner/runs/stop.h"
#include "tests/cluster/slurm.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

namespace fourfold::test {
namespace {

class Slurm : public testing::Test {
protected:
    void SetUp() override
    {
        if (const std::string why = why_no_slurm(); !why.empty())
            GTEST_SKIP() << why;
        cluster = std::make_unique<SlurmCluster>(4);
        ASSERT_TRUE(cluster->start());
    }
    void TearDown() override { cluster.reset(); }

    RunRequest asked(const std::map<std::string, std::string>& environment)
    {
        RunRequest out = request(home, 4, environment);
        out.target = *target_from_json({{"kind", "slurm"}, {"base_folder", (home.path() / "shared").string()},
                                           {"slurm", {{"nodes", 4}, {"partition", "low"}, {"requeue", requeue}}}},
            "slurm");
        out.target.stop_grace_s = 0.5;
        return out;
    }
    RunResult run(const RunRequest& request, std::stop_token stop = {})
    {
        const auto result = launch(request, observer, stop);
        EXPECT_TRUE(result) << (result ? "" : result.error().line());
        if (!result)
            return {};
        EXPECT_TRUE(wait_until([&] { return processes_of(result->id.substr(0, 26)) == 0; }, 20))
            << "nothing may be left";
        return *result;
    }
    [[nodiscard]] bool said(const std::string& text) const
    {
        return std::any_of(observer.texts.begin(), observer.texts.end(),
            [&](const std::string& one) { return one.find(text) != std::string::npos; });
    }

    Home home;
    std::unique_ptr<SlurmCluster> cluster;
    Recording observer;
    bool requeue = false;
};

TEST_F(Slurm, FourNodesThenNothingIsSentAgain)
{
    std::string token;
    std::vector<std::string> shown;
    observer.each_event = [&](const Json& event) {
        if (integer_field(event, "step") != 20)
            return;
        token = token_of(observer.id);
        shown = places_of(token, home.path());
    };
    const RunResult result = run(asked({{"FAKE_STEPS", "50"}, {"FAKE_STEP_MS", "20"}}));
    const auto secret = home.path() / "shared/runs" / result.id / "slurm/token";
    ASSERT_EQ(token.size(), 64u) << "the ranks have one";
    EXPECT_EQ(shown, std::vector<std::string>{secret.string()});
    EXPECT_EQ(std::filesystem::status(secret).permissions(),
        std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    ASSERT_EQ(result.state, RunState::ok) << (result.problem ? result.problem->line() : "");
    expect_whole(observer.events, "ok");
    EXPECT_EQ(steps_of(observer.events).size(), 50u);
    const auto stored = read_text_file(result.folder / "events.jsonl");
    const auto node = read_text_file(home.path() / "shared/runs" / result.id / "events.jsonl");
    ASSERT_TRUE(stored && node);
    EXPECT_EQ(*stored, *node);
    for (int rank = 0; rank < 4; ++rank)
        EXPECT_TRUE(std::filesystem::exists(result.folder / ("rank" + std::to_string(rank) + ".log"))) << rank;
    EXPECT_TRUE(said("Slurm job"));
    observer = {};
    EXPECT_EQ(run(asked({{"FAKE_STEPS", "2"}})).state, RunState::ok);
    EXPECT_TRUE(said("sent 0 bytes"));
}

// Its own names are all that is needed: what is found is saved and run on.
TEST_F(Slurm, IsFoundBehindItsLoginAndRunOn)
{
    const auto found = find_cluster({"local", {}, (home.path() / "shared").string(), {}}, observer, {});
    ASSERT_TRUE(found) << found.error().line();
    ASSERT_FALSE(found->partitions.empty());
    ClusterChoice choice = first_choice(*found, 4);
    choice.id = "here";
    choice.nodes = 4;
    choice.queue.partition = "low";
    const auto saved = save_found(*found, choice, Presets());
    ASSERT_TRUE(saved) << saved.error().line();
    EXPECT_TRUE(saved->cluster.empty()) << "its cores were not measured";
    RunRequest request = asked({{"FAKE_STEPS", "5"}});
    request.target = *load_target("here");
    EXPECT_EQ(request.target.slurm->nodes, 4);
    EXPECT_EQ(run(request).state, RunState::ok);
    EXPECT_EQ(processes_of(observer.id), 0);
}

TEST_F(Slurm, ARankOfAnotherNodeFails)
{
    const RunResult result = run(
        asked({{"FAKE_STEPS", "100000"}, {"FAKE_FAIL_RANK", "2"}, {"FAKE_FAIL_STEP", "20"}, {"FAKE_HOW", "exit37"}}));
    EXPECT_EQ(result.state, RunState::fail);
    ASSERT_TRUE(result.problem);
    const std::string line = result.problem->line();
    EXPECT_NE(line.find("rank 2 (tp 0, cp 0, pp 0, dp 1) on n"), std::string::npos) << line;
    EXPECT_NE(line.find("exit status 37"), std::string::npos) << line;
    expect_whole(observer.events, "fail");
}

TEST_F(Slurm, CancelledFromOutside)
{
    observer.each_event = [&](const Json& event) {
        if (integer_field(event, "step") == 20)
            (void)cluster->run("scancel " + cluster->job());
    };
    const RunResult result = run(asked({{"FAKE_STEPS", "100000"}}));
    EXPECT_EQ(result.state, RunState::cancelled);
    ASSERT_TRUE(result.problem);
    EXPECT_NE(result.problem->line().find("scancel"), std::string::npos) << result.problem->line();
    expect_whole(observer.events, "cancelled");
}

TEST_F(Slurm, StoppedWhileItRuns)
{
    std::stop_source stop;
    observer.each_event = [&](const Json& event) {
        if (integer_field(event, "step") == 20)
            stop.request_stop();
    };
    EXPECT_EQ(run(asked({{"FAKE_STEPS", "100000"}}), stop.get_token()).state, RunState::cancelled);
    EXPECT_TRUE(wait_until([&] { return cluster->job().empty(); }, 30)) << "the job ends too";
}

TEST_F(Slurm, AWaitingJobSaysWhyAndIsTakenOutOfTheQueue)
{
    RunRequest later = asked({{"FAKE_STEPS", "2"}});
    later.target.slurm->lines = {"--begin=now+1hour"};
    std::stop_source stop;
    std::jthread stopper([&](const std::stop_token& end) {
        while (!end.stop_requested() && cluster->job().empty())
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        std::this_thread::sleep_for(std::chrono::seconds(6));
        stop.request_stop();
    });
    const RunResult result = run(later, stop.get_token());
    EXPECT_EQ(result.state, RunState::cancelled);
    EXPECT_TRUE(said("Slurm: PENDING (BeginTime)")) << "the reason is shown";
    EXPECT_EQ(cluster->job(), "");
}

TEST_F(Slurm, PreemptedAndRequeuedIsANewAttempt)
{
    requeue = true;
    std::atomic<bool> preempted = false;
    observer.each_event = [&](const Json& event) {
        if (integer_field(event, "step") == 20 && !preempted.exchange(true))
            (void)cluster->run("sbatch -p high -N 4 --exclusive --output=/dev/null --wrap 'sleep 2'");
    };
    // Slurm holds a job that it queued again for two minutes.
    std::jthread release([&](const std::stop_token& end) {
        while (!end.stop_requested()) {
            if (const std::string job = preempted ? cluster->job() : ""; !job.empty())
                (void)cluster->run("scontrol update jobid=" + job + " starttime=now");
            std::this_thread::sleep_for(std::chrono::seconds(2));
        }
    });
    const RunResult result = run(asked({{"FAKE_STEPS", "400"}, {"FAKE_STEP_MS", "20"}}));
    EXPECT_EQ(result.state, RunState::ok) << (result.problem ? result.problem->line() : "");
    EXPECT_TRUE(result.id.ends_with("A1")) << result.id;
    const auto runs = HistoryStore::open(HistoryStore::default_file())->list();
    ASSERT_TRUE(runs);
    ASSERT_EQ(runs->size(), 2u) << "each attempt is stored";
    EXPECT_EQ((*runs)[1].state == RunState::preempted || (*runs)[0].state == RunState::preempted, true);
}

// The client goes away before the job is preempted: attach has both attempts.
TEST_F(Slurm, AttachFollowsTheNextAttempt)
{
    requeue = true;
    ClientProcess client(asked({{"FAKE_STEPS", "400"}, {"FAKE_STEP_MS", "20"}}));
    const std::string& id = client.id();
    ASSERT_TRUE(wait_until([&] {
        const auto text = read_text_file(home.path() / "shared/runs" / id / "events.jsonl");
        return text && text->find("\"step\":20,") != std::string::npos;
    }));
    client.end(SIGKILL);
    (void)cluster->run("sbatch -p high -N 4 --exclusive --output=/dev/null --wrap 'sleep 2'");
    std::jthread release([&](const std::stop_token& end) {
        while (!end.stop_requested()) {
            if (const std::string job = cluster->job(); !job.empty())
                (void)cluster->run("scontrol update jobid=" + job + " starttime=now");
            std::this_thread::sleep_for(std::chrono::seconds(2));
        }
    });
    const auto result = attach(id, observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->id, id + "A1");
    EXPECT_EQ(result->state, RunState::ok) << (result->problem ? result->problem->line() : "");
    expect_whole(read_events(result->folder / "events.jsonl"), "ok");
    const auto store = HistoryStore::open(HistoryStore::default_file());
    EXPECT_EQ(store->show(id)->summary.state, RunState::preempted);
    EXPECT_EQ(store->show(result->id)->summary.name, "Tiny");
    // Attached again, nothing is waited for.
    EXPECT_EQ(attach(id, observer, {})->id, result->id);
}

// A stop while the job waits for its next attempt takes it out of the queue.
TEST_F(Slurm, StoppedBetweenTwoAttempts)
{
    requeue = true;
    std::stop_source stop;
    observer.each_event = [&](const Json& event) {
        if (integer_field(event, "step") == 20)
            (void)cluster->run("sbatch -p high -N 4 --exclusive --output=/dev/null --wrap 'sleep 4'");
    };
    std::jthread stopper([&](const std::stop_token& end) {
        while (!end.stop_requested()
            && cluster->run("squeue -h -p low -t PENDING -o %i").find_first_of("0123456789") == std::string::npos)
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
        std::this_thread::sleep_for(std::chrono::seconds(3));
        stop.request_stop();
    });
    const auto result = launch(asked({{"FAKE_STEPS", "100000"}}), observer, stop.get_token());
    EXPECT_FALSE(result && result->state == RunState::ok);
    EXPECT_TRUE(wait_until([&] { return cluster->run("squeue -h -p low -o %i").empty(); }, 60))
        << "it would run on its own later: " << cluster->run("squeue");
    EXPECT_FALSE(std::filesystem::exists(home.path() / "shared/runs" / (observer.id + "A1")));
}

// `fourfold stop` from another program: a job that runs, and one that was preempted while nobody followed it.
TEST_F(Slurm, StoppedByAnotherProgram)
{
    requeue = true;
    Recording stopper;
    for (const bool preempted : {false, true}) {
        SCOPED_TRACE(preempted);
        ClientProcess client(asked({{"FAKE_STEPS", "100000"}}));
        const std::string& id = client.id();
        ASSERT_TRUE(wait_until([&] {
            const auto text = read_text_file(home.path() / "shared/runs" / id / "events.jsonl");
            return text && text->find("\"step\":20,") != std::string::npos;
        }));
        if (preempted) {
            client.end(SIGKILL);
            (void)cluster->run("sbatch -p high -N 4 --exclusive --output=/dev/null --wrap 'sleep 3'");
            ASSERT_TRUE(wait_until([&] {
                return cluster->run("squeue -h -p low -t PENDING -o %i").find_first_of("0123456789")
                    != std::string::npos;
            }));
        }
        const auto result = stop_run(id, stopper, {});
        ASSERT_TRUE(result) << result.error().line();
        EXPECT_EQ(result->state, preempted ? RunState::preempted : RunState::cancelled);
        EXPECT_TRUE(wait_until([&] { return cluster->run("squeue -h -p low -o %i").empty(); }, 60))
            << "it would run on its own later: " << cluster->run("squeue");
        EXPECT_EQ(processes_of(id), 0);
        EXPECT_FALSE(std::filesystem::exists(home.path() / "shared/runs" / (id + "A1")));
        if (!preempted) {
            EXPECT_EQ(client.end(), 1);
        }
    }
}

// A look at the target asks Slurm too: a job that cannot run is known before it waits.
TEST_F(Slurm, AProbeAsksForThePartition)
{
    const auto lines = [&](const std::function<void(SlurmSettings&)>& change) {
        RunRequest changed = asked({});
        change(*changed.target.slurm);
        const auto report = probe_target(changed.target, observer, {}, LookFor::trouble);
        EXPECT_TRUE(report) << report.error().line();
        return report ? probe_text(*report) : std::string();
    };
    const std::string sound = lines([](SlurmSettings&) {});
    EXPECT_NE(sound.find("partition low (4 nodes, 4 of them up, 4 idle"), std::string::npos) << sound;
    EXPECT_NE(sound.find("\nready for a run"), std::string::npos) << sound;
    const std::string none = lines([](SlurmSettings& slurm) { slurm.partition = "nowhere"; });
    EXPECT_NE(none.find("there is no partition \"nowhere\" (it has low, high)"), std::string::npos) << none;
    EXPECT_NE(none.find("not ready for a run"), std::string::npos) << none;
    const std::string many = lines([](SlurmSettings& slurm) { slurm.nodes = 5; });
    EXPECT_NE(many.find("fewer than 5 nodes"), std::string::npos) << many;
    cluster->kill_controller();
    const std::string silent = lines([](SlurmSettings&) {});
    cluster->start_controller();
    EXPECT_NE(silent.find("error: this computer: Slurm: Slurm does not answer"), std::string::npos) << silent;
}

// What the batch script itself dies of is in its output only.
TEST_F(Slurm, AScriptThatCannotStartTheAgentsSaysWhy)
{
    const std::string path = getenv("PATH");
    setenv("PATH", "/nowhere", 1); // the job gets it; no srun there
    const RunResult result = run(asked({{"FAKE_STEPS", "3"}}));
    setenv("PATH", path.c_str(), 1);
    EXPECT_EQ(result.state, RunState::fail);
    ASSERT_TRUE(result.problem);
    EXPECT_NE(result.problem->line().find("srun: not found"), std::string::npos) << result.problem->line();
    expect_whole(observer.events, "fail");
}

TEST_F(Slurm, AControllerThatDiesChangesNothing)
{
    std::jthread helper;
    observer.each_event = [&](const Json& event) {
        if (integer_field(event, "step") != 20)
            return;
        cluster->kill_controller();
        helper = std::jthread([this] {
            std::this_thread::sleep_for(std::chrono::seconds(2));
            cluster->start_controller();
        });
    };
    EXPECT_EQ(run(asked({{"FAKE_STEPS", "200"}, {"FAKE_STEP_MS", "20"}})).state, RunState::ok);
    expect_whole(observer.events, "ok");
}

TEST_F(Slurm, ALostNodeEndsTheRun)
{
    observer.each_event = [&](const Json& event) {
        if (integer_field(event, "step") == 20)
            (void)cluster->run("scontrol update nodename=n4 state=down reason=test");
    };
    const RunResult result = run(asked({{"FAKE_STEPS", "100000"}}));
    EXPECT_EQ(result.state, RunState::lost);
    ASSERT_TRUE(result.problem);
    EXPECT_NE(result.problem->line().find("NODE_FAIL"), std::string::npos) << result.problem->line();
}

// The files that ask the agents to stop are not read by anybody.
TEST_F(Slurm, AgentsThatHangAreEndedThroughSlurm)
{
    std::stop_source stop;
    observer.each_event = [&](const Json& event) {
        if (integer_field(event, "step") != 20)
            return;
        const auto folder = home.path() / "shared/runs" / observer.id;
        for (const char* share : {"", "node1", "node2", "node3"}) {
            const auto status = read_json_file(folder / share / "status.json");
            ASSERT_TRUE(status) << status.error().line();
            kill(static_cast<pid_t>(integer_field(*status, "pid")), SIGSTOP);
        }
        stop.request_stop();
    };
    const RunResult result = run(asked({{"FAKE_STEPS", "100000"}}), stop.get_token());
    EXPECT_EQ(result.state, RunState::cancelled);
    EXPECT_TRUE(said("its agents did not end the ranks: Slurm was told to end job"));
}

TEST_F(Slurm, TheTimeLimitIsNamed)
{
    RunRequest limited = asked({{"FAKE_STEPS", "100000"}});
    limited.target.slurm->time = "1";
    const RunResult result = run(limited);
    EXPECT_EQ(result.state, RunState::fail);
    ASSERT_TRUE(result.problem);
    EXPECT_NE(result.problem->line().find("time limit"), std::string::npos) << result.problem->line();
}

// Slurm's early sign reaches the agents and ends no rank, and the ranks save as long as they need.
TEST_F(Slurm, TheTimeLimitLeavesTimeToSave)
{
    RunRequest limited = asked({{"FAKE_STEPS", "100000"}, {"FAKE_STEP_MS", "20"}, {"FAKE_SAVE_MS", "4000"}});
    limited.target.slurm->time = "2";
    limited.target.save_s = 30;
    limited.plan.run.checkpoint.every = 1000;
    const RunResult result = run(limited);
    EXPECT_EQ(result.state, RunState::fail);
    ASSERT_TRUE(result.problem);
    EXPECT_NE(result.problem->line().find("comes to its time limit"), std::string::npos) << result.problem->line();
    for (int node = 0; node < 4; ++node) {
        const auto share = home.path() / "shared/runs" / result.id / (node == 0 ? "" : "node" + std::to_string(node));
        EXPECT_TRUE(std::filesystem::exists(share / ("saved" + std::to_string(node) + ".whole"))) << node;
    }
    expect_whole(observer.events, "fail");
}

// What only the nodes of the job can find out is said in their own words, not as "Slurm says FAILED".
TEST_F(Slurm, ANodeThatCannotStartSaysWhy)
{
    RunRequest wrong = asked({{"FAKE_STEPS", "3"}});
    wrong.target.prelude = {"[ \"$SLURM_NODEID\" != 2 ] || { echo no such module >&2; false; }"};
    const RunResult result = run(wrong);
    EXPECT_EQ(result.state, RunState::fail);
    ASSERT_TRUE(result.problem);
    EXPECT_NE(result.problem->line().find("node 2 was not ready"), std::string::npos) << result.problem->line();
    EXPECT_NE(result.problem->line().find("no such module"), std::string::npos) << result.problem->line();
    expect_whole(observer.events, "fail");
    // The job's nodes are looked at before its ranks start.
    const auto shared = home.path() / "shared/runs" / result.id / "slurm";
    EXPECT_TRUE(std::filesystem::exists(shared / "findings0.json"));
    EXPECT_FALSE(std::filesystem::exists(shared / "findings2.json")) << "it did not get that far";
}

TEST_F(Slurm, WhatSbatchRefusesIsOneClearProblem)
{
    RunRequest wrong = asked({});
    wrong.target.slurm->partition = "nowhere";
    const auto result = launch(wrong, observer, {});
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().line().find("invalid partition"), std::string::npos) << result.error().line();
    const auto shown = preview(asked({}));
    ASSERT_TRUE(shown);
    EXPECT_NE(shown->text.find("#SBATCH --partition=low"), std::string::npos);
    EXPECT_NE(shown->text.find("exec srun"), std::string::npos);
}

} // namespace
} // namespace fourfold::test
