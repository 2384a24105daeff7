// SPDX-License-Identifier: GPL-3.0-or-later
// Going on after a failure: which hosts are left, what a plan becomes on them, and when it comes to an end. The hosts
// are real servers on loopback, the runs between are made up; tests/cluster has whole ones.
#include "runner/runs/restarts.h"

#include "core/history/store.h"
#include "core/search/refit.h"
#include "runner/protocol/message.h"
#include "runner/runs/fit_hosts.h"
#include "runner/runs/run_record.h"
#include "tests/runner/sshd.h"

#include <signal.h>

#include <algorithm>
#include <fstream>
#include <memory>

namespace fourfold::test {
namespace {

using Ranks = std::vector<int>;

std::vector<HostsLeft::Host> hosts_with(std::size_t count, double memory_gib = 0)
{
    std::vector<HostsLeft::Host> out;
    for (std::size_t i = 0; i < count; ++i)
        out.push_back({i, memory_gib});
    return out;
}

TEST(SharesOfHosts, WholeHostsAndEqualParts)
{
    const auto shares = shares_of_hosts({4, 4, 4}, hosts_with(3, 64));
    std::vector<int> gpus;
    for (const HostShares& each : shares)
        gpus.push_back(each.gpus);
    EXPECT_EQ(gpus, (std::vector<int>{12, 8, 6, 4, 3, 2, 1}));
    EXPECT_EQ(shares[0].ranks, (Ranks{4, 4, 4}));
    EXPECT_EQ(shares[1].ranks, (Ranks{4, 4, 0})) << "on few hosts";
    EXPECT_EQ(shares[2].ranks, (Ranks{2, 2, 2}));
    EXPECT_EQ(shares[3].ranks, (Ranks{4, 0, 0}));
    EXPECT_DOUBLE_EQ(shares[0].memory_gib, 16);
    EXPECT_DOUBLE_EQ(shares[2].memory_gib, 32);
}

TEST(SharesOfHosts, HostsThatHoldDifferentNumbers)
{
    const auto shares = shares_of_hosts({2, 3}, {{0, 8}, {1, 0}});
    ASSERT_FALSE(shares.empty());
    EXPECT_EQ(shares.front().ranks, (Ranks{2, 3})) << "all that there is";
    EXPECT_DOUBLE_EQ(shares.front().memory_gib, 4) << "of what is known";
    for (const HostShares& each : shares) {
        EXPECT_LE(each.ranks[0], 2);
        EXPECT_LE(each.ranks[1], 3);
        EXPECT_EQ(each.ranks[0] + each.ranks[1], each.gpus);
    }
    EXPECT_TRUE(shares_of_hosts({}, {}).empty());
}

// Runs that are made up, each with its own end.
class RestartsTest : public testing::Test {
protected:
    struct Made {
        RunState state = RunState::fail;
        std::string checkpoint; // that it told of
        RunState ordered = RunState::lost; // of `stopping`
        bool stopped = false; // by `fourfold stop` of another program
    };
    Expected<RunResult> made(const Made& run)
    {
        RunResult out;
        out.id = "RUN" + std::to_string(++count);
        out.folder = home.path() / out.id;
        out.state = run.state;
        out.ordered = run.ordered;
        std::filesystem::create_directories(out.folder);
        if (run.stopped)
            std::ofstream(out.folder / kStopFile) << "";
        std::ofstream events(out.folder / "events.jsonl");
        events << to_wire({{"seq", 0}, {"event", "step"}, {"step", 1}}) << "\n";
        if (!run.checkpoint.empty())
            events << to_wire({{"seq", 1}, {"event", "checkpoint"}, {"path", run.checkpoint}}) << "\n";
        return out;
    }
    // Goes on after a run that ended so, with these further ones.
    Expected<RunResult> go_on(const RunRequest& request, const Made& first, const std::vector<Made>& further)
    {
        auto result = made(first);
        return go_on_after(
            *result, request,
            [&](const RunRequest& asked) -> Expected<RunResult> {
                requests.push_back(asked);
                if (requests.size() > further.size()) {
                    ADD_FAILURE() << "one run too many";
                    return Problem{ProblemCode::bad_input, "one run too many", {}, {}};
                }
                if (before_each)
                    before_each(requests.size());
                return made(further[requests.size() - 1]);
            },
            observer, stop.get_token());
    }
    [[nodiscard]] std::string said() const
    {
        std::string out;
        for (const std::string& text : observer.texts)
            out += text + "\n";
        return out;
    }

    Home home;
    Recording observer;
    std::vector<RunRequest> requests;
    std::function<void(std::size_t)> before_each;
    std::stop_source stop;
    int count = 0;
};

TEST_F(RestartsTest, TheSamePlanFromTheNewestCheckpoint)
{
    RunRequest asked = request(home, 4, {});
    asked.restarts = 3;
    const auto result = go_on(asked, {RunState::hang, "/saved/step-00000003"},
        {{RunState::lost, "/saved/step-00000006"}, {RunState::ok, ""}});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok);
    ASSERT_EQ(requests.size(), 2u);
    for (const RunRequest& each : requests) {
        EXPECT_EQ(each.plan.run.checkpoint.load, "/saved");
        EXPECT_TRUE(each.plan.run.checkpoint.from_last_good);
        EXPECT_EQ(layout_hash(each.plan), layout_hash(asked.plan));
    }
    EXPECT_EQ(requests[0].note, "restart 1 of run RUN1 from /saved");
    EXPECT_EQ(requests[1].note, "restart 2 of run RUN2 from /saved");
    EXPECT_NE(said().find("restart 2 of 3 from /saved\n"), std::string::npos) << said();
}

TEST_F(RestartsTest, WhatIsNotTriedAgain)
{
    RunRequest asked = request(home, 4, {});
    asked.restarts = 3;
    for (const RunState state : {RunState::ok, RunState::oom, RunState::cancelled, RunState::running,
             RunState::stopping, RunState::preempted}) {
        const auto result = go_on(asked, {state, ""}, {});
        ASSERT_TRUE(result);
        EXPECT_EQ(result->state, state);
    }
    const auto twice = go_on(asked, {RunState::fail, ""}, {{RunState::fail, ""}, {RunState::oom, ""}});
    ASSERT_TRUE(twice);
    EXPECT_EQ(twice->state, RunState::oom);
    asked.restarts = 0;
    requests.clear();
    ASSERT_TRUE(go_on(asked, {RunState::fail, ""}, {}));
}

TEST_F(RestartsTest, AStopOfAnotherProgramEndsIt)
{
    RunRequest asked = request(home, 4, {});
    asked.restarts = 5;
    const auto result = go_on(asked, {.state = RunState::fail, .stopped = true}, {});
    ASSERT_TRUE(result);
    EXPECT_TRUE(requests.empty());
}

TEST_F(RestartsTest, AStopEndsIt)
{
    RunRequest asked = request(home, 4, {});
    asked.restarts = 5;
    before_each = [&](std::size_t) { stop.request_stop(); };
    const auto result = go_on(asked, {RunState::fail, ""}, {{RunState::fail, ""}});
    ASSERT_TRUE(result);
    EXPECT_EQ(requests.size(), 1u);
}

// A run that cannot be started counts, and the next one is tried; what no further try can mend ends it.
TEST_F(RestartsTest, ARunThatIsNotStarted)
{
    RunRequest asked = request(home, 4, {});
    asked.restarts = 3;
    int tried = 0;
    ProblemCode code = ProblemCode::network;
    const auto run_once = [&](const RunRequest&) -> Expected<RunResult> {
        ++tried;
        return Problem{code, "no answer", {}, "a host"};
    };
    const auto never = go_on_after(*made({}), asked, run_once, observer, {});
    ASSERT_FALSE(never);
    EXPECT_EQ(never.error().message, "no answer");
    EXPECT_EQ(tried, 3);
    for (const char* part : {"restart 1 of 3 was not started: a host: no answer", "restart 2 of 3 was not"})
        EXPECT_NE(said().find(part), std::string::npos) << said();
    tried = 0;
    code = ProblemCode::not_found;
    ASSERT_FALSE(go_on_after(*made({}), asked, run_once, observer, {}));
    EXPECT_EQ(tried, 1);
}

// Three servers on loopback with two ranks each.
class RestartsOnHosts : public RestartsTest {
protected:
    void SetUp() override
    {
        if (const std::string why = why_no_sshd(); !why.empty())
            GTEST_SKIP() << why;
        for (int i = 1; i <= 3; ++i) {
            servers.push_back(std::make_unique<Sshd>(home, "node" + std::to_string(i)));
            servers.back()->start();
        }
        observer.trust = true;
    }
    RunRequest asked(int restarts)
    {
        RunRequest out = request(home, 6, {});
        out.plan.training.global_batch = 12;
        out.plan.training.micro_batches = 4;
        out.target = ssh_target(home, {servers[0].get(), servers[1].get(), servers[2].get()});
        out.restarts = restarts;
        return out;
    }
    [[nodiscard]] std::string name_of(int server) const { return place_name(servers[std::size_t(server)]->host()); }
    [[nodiscard]] HostsQuestion question() { return {asked(1).target, {2, 2, 2}, false, {}, agent_program()}; }
    static std::vector<int> ports_of(const RunRequest& request)
    {
        std::vector<int> out;
        for (const TargetHost& host : request.target.hosts)
            out.push_back(host.port);
        return out;
    }

    std::vector<std::unique_ptr<Sshd>> servers;
};

TEST_F(RestartsOnHosts, NobodyIsLost)
{
    const RunRequest all = asked(1);
    const auto result = go_on(all, {RunState::fail, "/saved/step-00000001"}, {{RunState::ok, ""}});
    ASSERT_TRUE(result) << result.error().line();
    ASSERT_EQ(requests.size(), 1u);
    EXPECT_EQ(layout_hash(requests[0].plan), layout_hash(all.plan));
    EXPECT_EQ(ports_of(requests[0]), ports_of(all));
    EXPECT_EQ(requests[0].note, "restart 1 of run RUN1 from /saved");
}

// A host that cannot be reached says nothing of why the run was to end.
TEST_F(RestartsOnHosts, WhatWasStoppedOrOutOfMemoryIsNotTriedAgain)
{
    servers[1]->stop();
    for (const RunState ordered : {RunState::cancelled, RunState::oom, RunState::preempted}) {
        const auto result = go_on(asked(1), {.state = RunState::stopping, .ordered = ordered}, {});
        ASSERT_TRUE(result) << result.error().line();
        EXPECT_EQ(result->state, RunState::stopping);
    }
    EXPECT_TRUE(requests.empty());
}

TEST_F(RestartsOnHosts, WithoutAHostThatDoesNotAnswer)
{
    const RunRequest all = asked(1);
    servers[1]->stop();
    const auto result = go_on(all, {RunState::stopping, "/saved/step-00000001"}, {{RunState::ok, ""}});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok);
    ASSERT_EQ(requests.size(), 1u) << said();
    const RunRequest& next = requests[0];
    const std::vector<int> ports = ports_of(next);
    EXPECT_FALSE(ports.empty());
    EXPECT_EQ(std::count(ports.begin(), ports.end(), servers[1]->port()), 0);
    EXPECT_LE(next.plan.gpus, 4);
    const auto ranks = ranks_of_hosts(next.target, next.plan.gpus);
    ASSERT_TRUE(ranks) << ranks.error().line();
    EXPECT_EQ(next.plan.training.global_batch, 12);
    EXPECT_NE(plan_hash(next.plan), plan_hash(all.plan));
    EXPECT_EQ(next.plan.run.checkpoint.load, "/saved");
    // One line says who is lost, why, and what is taken instead.
    const std::string line = observer.texts.back();
    for (const std::string& part : {std::string("restart 1 of 1 from /saved: ") + name_of(1) + " is lost (port: ",
             layout_words(next.plan), "gpus 6 -> " + std::to_string(next.plan.gpus)})
        EXPECT_NE(line.find(part), std::string::npos) << line;
    EXPECT_EQ(line.find(name_of(0)), std::string::npos) << line;
    EXPECT_NE(next.note.find("of run RUN1 from /saved: " + name_of(1) + " is lost"), std::string::npos) << next.note;
}

// It is looked at anew before each start.
TEST_F(RestartsOnHosts, AHostThatIsBackIsUsedAgain)
{
    const RunRequest all = asked(3);
    servers[2]->stop();
    before_each = [&](std::size_t number) {
        if (number == 1)
            servers[2]->start();
        else if (number == 2)
            servers[0]->stop();
    };
    const auto result
        = go_on(all, {RunState::lost, ""}, {{RunState::fail, ""}, {RunState::fail, ""}, {RunState::ok, ""}});
    ASSERT_TRUE(result) << result.error().line();
    ASSERT_EQ(requests.size(), 3u) << said();
    EXPECT_LT(requests[0].plan.gpus, 6);
    EXPECT_EQ(layout_hash(requests[1].plan), layout_hash(all.plan));
    EXPECT_EQ(ports_of(requests[1]), ports_of(all));
    EXPECT_NE(said().find("restart 2 of 3 from the beginning: there is no checkpoint: all 3 hosts are there again"),
        std::string::npos)
        << said();
    EXPECT_LT(requests[2].plan.gpus, 6);
    const std::vector<int> ports = ports_of(requests[2]);
    EXPECT_EQ(std::count(ports.begin(), ports.end(), servers[0]->port()), 0);
}

TEST_F(RestartsOnHosts, NothingFitsOnWhatIsLeft)
{
    RunRequest all = asked(2);
    all.plan.cluster.gpu.memory_gib = 1e-4;
    servers[1]->stop();
    const auto result = go_on(all, {RunState::hang, ""}, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::hang) << "the status of the run that failed";
    EXPECT_EQ(observer.states.back(), RunState::hang);
    const std::string line = observer.texts.back();
    for (const std::string& part : {std::string("not started anew: "), name_of(1) + " is lost (port: ",
             std::string("no layout of the plan fits on 4 GPUs or fewer: "), std::string("GiB are missing")})
        EXPECT_NE(line.find(part), std::string::npos) << line;
}

TEST_F(RestartsOnHosts, NoHostIsLeft)
{
    for (const auto& server : servers)
        server->stop();
    const auto result = go_on(asked(2), {RunState::lost, ""}, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::lost);
    EXPECT_NE(observer.texts.back().find("there are no GPUs to go on with"), std::string::npos)
        << observer.texts.back();
}

TEST_F(RestartsOnHosts, AStopWhileTheHostsAreLookedAt)
{
    stop.request_stop();
    const auto looked = hosts_left(question(), observer, stop.get_token());
    ASSERT_FALSE(looked);
    EXPECT_EQ(looked.error().code, ProblemCode::cancelled);
}

// Errors of the look before a run count as a loss.
TEST_F(RestartsOnHosts, AHostThatAnswersAndIsNotSound)
{
    HostsQuestion asked = question();
    asked.target.interface = "ib7";
    const auto looked = hosts_left(asked, observer, {});
    ASSERT_TRUE(looked) << looked.error().line();
    EXPECT_TRUE(looked->hosts.empty());
    ASSERT_EQ(looked->lost.size(), 3u);
    EXPECT_NE(looked->lost[0].why.find("interface: the node has no network interface \"ib7\""), std::string::npos)
        << looked->lost[0].why;
    asked.target.preflight = false;
    const auto only_connected = hosts_left(asked, observer, {});
    ASSERT_TRUE(only_connected);
    EXPECT_EQ(only_connected->hosts.size(), 3u);
    asked.target.preflight = true;
    asked.target.interface.clear();
    asked.on_gpus = true;
    const auto without_gpus = hosts_left(asked, observer, {});
    ASSERT_TRUE(without_gpus);
    for (const HostsLeft::Lost& lost : without_gpus->lost)
        EXPECT_TRUE(lost.why.starts_with("GPUs: ")) << lost.why;
}

// A run whose hosts could not all be reached to end it has ended when they are there again.
TEST_F(RestartsOnHosts, TheEndOfAnEarlierRunIsStored)
{
    RunRequest all = asked(1);
    all.plan.run.environment = {{"FAKE_STEPS", "1000000"}, {"FAKE_STEP_MS", "20"}};
    ClientProcess client(all, [](Recording& mine) { mine.trust = true; });
    ASSERT_TRUE(wait_until([&] { return processes_of(client.id()) == 6; }));
    client.end(SIGKILL);
    auto store = HistoryStore::open(HistoryStore::default_file());
    ASSERT_TRUE(store) << store.error().line();
    ASSERT_TRUE(store->set_state(client.id(), RunState::stopping));
    RunResult before;
    before.id = client.id();
    before.folder = run_record_folder(before.id);
    before.state = RunState::stopping;
    before.ordered = RunState::lost;
    const auto result
        = go_on_after(before, all, [&](const RunRequest&) { return made({.state = RunState::ok}); }, observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok);
    EXPECT_EQ(processes_of(before.id), 0);
    const auto stored = store->show(before.id);
    ASSERT_TRUE(stored) << stored.error().line();
    EXPECT_EQ(stored->summary.state, RunState::lost) << said();
}

// Ranks that wait for peers which are gone would be in the way.
TEST_F(RestartsOnHosts, WhatIsLeftOfTheRunIsEnded)
{
    RunRequest all = asked(0);
    all.plan.run.environment = {{"FAKE_STEPS", "1000000"}, {"FAKE_STEP_MS", "20"}, {"FAKE_IGNORE_TERM", "1"}};
    ClientProcess client(all, [](Recording& mine) { mine.trust = true; });
    ASSERT_FALSE(client.id().empty());
    ASSERT_TRUE(wait_until([&] {
        for (int rank = 0; rank < 6; ++rank) {
            if (rank_process(client.id(), rank) == 0)
                return false;
        }
        return true;
    }));
    client.end(SIGKILL);
    HostsQuestion asked = question();
    asked.earlier = {{client.id(), {0, 1, 2}}};
    const auto looked = hosts_left(asked, observer, {});
    ASSERT_TRUE(looked) << looked.error().line();
    EXPECT_EQ(looked->hosts.size(), 3u) << (looked->lost.empty() ? "" : looked->lost[0].why);
    EXPECT_EQ(processes_of(client.id()), 0);
    asked.earlier = {{"01NOSUCHRUN00000000000000", {0, 1, 2}}};
    const auto none = hosts_left(asked, observer, {});
    ASSERT_TRUE(none);
    EXPECT_EQ(none->hosts.size(), 3u) << "a run that is not known there is nothing in the way";
}

} // namespace
} // namespace fourfold::test
