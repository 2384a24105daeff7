// SPDX-License-Identifier: GPL-3.0-or-later
// Whole runs on this computer: real agent, real processes, the history; the trainer is the fake one.
#include "core/base/paths.h"
#include "core/history/store.h"
#include "runner/protocol/message.h"
#include "tests/runner/support.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

namespace fourfold::test {
namespace {

using testing::Test;

std::string text_of(const std::filesystem::path& file)
{
    const auto text = read_text_file(file);
    return text ? *text : "(missing)";
}

// The invariant of every run: what is stored here is what the node has, byte for byte.
void expect_same_as_node(const RunResult& result)
{
    EXPECT_EQ(
        text_of(result.folder / "events.jsonl"), text_of(data_folder() / "node/runs" / result.id / "events.jsonl"));
    const auto store = HistoryStore::open(HistoryStore::default_file());
    ASSERT_TRUE(store);
    const auto lines = store->events(result.id);
    ASSERT_TRUE(lines);
    std::string joined;
    for (const std::string& line : *lines)
        joined += line + "\n";
    EXPECT_EQ(joined, text_of(result.folder / "events.jsonl"));
}

class LocalRun : public Test {
protected:
    Home home;
    Recording observer;

    RunResult run(int gpus, const std::map<std::string, std::string>& environment, std::stop_token stop = {})
    {
        const auto result = launch(request(home, gpus, environment), observer, stop);
        EXPECT_TRUE(result) << (result ? "" : result.error().line());
        if (!result)
            return {};
        EXPECT_EQ(processes_of(result->id), 0) << "nothing of a run may be left";
        return *result;
    }
};

// The variable of `fourfold probe --measure`: a run that trains nothing would end well.
TEST_F(LocalRun, AMeasurementIsNoTraining)
{
    const auto refused = launch(request(home, 1, {{"FOURFOLD_MEASURE", "1"}}), observer, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().exit_status(), 2);
    EXPECT_NE(refused.error().line().find("measure the nodes instead of training"), std::string::npos)
        << refused.error().line();
}

// While it runs and afterwards: in no command line, event, log or stored file.
TEST_F(LocalRun, TheTokenOfTheRanksIsNowhereToBeRead)
{
    std::string token;
    std::vector<std::string> shown;
    observer.each_event = [&](const Json& event) {
        if (integer_field(event, "step") != 5)
            return;
        token = token_of(observer.id);
        shown = places_of(token, home.path());
    };
    const RunResult result = run(2, {{"FAKE_STEPS", "100"}, {"FAKE_STEP_MS", "20"}});
    EXPECT_EQ(result.state, RunState::ok);
    ASSERT_EQ(token.size(), 64u) << "the ranks have one";
    EXPECT_EQ(shown, std::vector<std::string>());
    EXPECT_EQ(places_of(token, home.path()), std::vector<std::string>());
    const std::string first = std::exchange(token, "");
    run(2, {{"FAKE_STEPS", "100"}, {"FAKE_STEP_MS", "20"}});
    EXPECT_EQ(token.size(), 64u);
    EXPECT_NE(token, first) << "each run has its own";
}

TEST_F(LocalRun, EndsWellAndIsStored)
{
    const RunResult result = run(4, {{"FAKE_STEPS", "20"}, {"FAKE_NOTE", "héllo $(date) 'x'"}});
    EXPECT_EQ(result.state, RunState::ok);
    EXPECT_FALSE(result.problem);
    expect_whole(observer.events, "ok");
    EXPECT_EQ(steps_of(observer.events).size(), 20u);
    expect_same_as_node(result);
    const Json& start = observer.events.front();
    EXPECT_EQ(text_field(start, "event"), "start");
    EXPECT_EQ(array_field(start, "hosts").size(), 1u);
    EXPECT_FALSE(text_field(start, "plan_hash").empty());
    const std::vector<RunState> expected{
        RunState::preflight, RunState::staging, RunState::launching, RunState::running, RunState::ok};
    // A busy computer is worth warnings before the run, each with its state.
    observer.states.erase(std::unique(observer.states.begin(), observer.states.end()), observer.states.end());
    EXPECT_EQ(observer.states, expected);
    for (int rank = 0; rank < 4; ++rank) {
        const std::string log = text_of(result.folder / ("rank" + std::to_string(rank) + ".log"));
        EXPECT_NE(log.find("rank " + std::to_string(rank) + " of 4 on 127.0.0.1, héllo $(date) 'x'"), std::string::npos)
            << log;
    }
    const auto store = HistoryStore::open(HistoryStore::default_file());
    const auto detail = store->show("last");
    ASSERT_TRUE(detail);
    EXPECT_EQ(detail->summary.id, result.id);
    EXPECT_EQ(detail->summary.state, RunState::ok);
    EXPECT_EQ(detail->steps.size(), 20u);
    EXPECT_TRUE(result.measured_tps_per_gpu);
    EXPECT_TRUE(result.predicted_tps_per_gpu);
    EXPECT_EQ(text_field(detail->environment, "FAKE_STEPS"), "20");
}

TEST_F(LocalRun, NamesTheRankThatExits)
{
    const RunResult result = run(4, {{"FAKE_STEPS", "100000"}, {"FAKE_FAIL_RANK", "2"}, {"FAKE_HOW", "exit37"}});
    EXPECT_EQ(result.state, RunState::fail);
    ASSERT_TRUE(result.problem);
    EXPECT_NE(
        result.problem->line().find("rank 2 (tp 0, cp 0, pp 0, dp 1) on this computer: ended with exit status 37"),
        std::string::npos)
        << result.problem->line();
    EXPECT_NE(result.problem->line().find("something went wrong in step 2"), std::string::npos);
    expect_whole(observer.events, "fail");
    const Json error = last_event(observer.events, "error"); // what other ranks had said may follow it
    EXPECT_EQ(text_field(error, "event"), "error");
    EXPECT_EQ(integer_field(error, "rank"), 2);
    EXPECT_EQ(text_field(error, "host"), "this computer");
    EXPECT_EQ(integer_field(object_field(error, "coordinates"), "dp"), 1);
    EXPECT_FALSE(array_field(error, "log").empty());
    expect_same_as_node(result);
}

TEST_F(LocalRun, NamesTheSignalAndStopsTheOthersSoon)
{
    const auto begin = std::chrono::steady_clock::now();
    const RunResult result = run(4,
        {{"FAKE_STEPS", "100000"}, {"FAKE_FAIL_RANK", "1"}, {"FAKE_FAIL_STEP", "1"}, {"FAKE_HOW", "kill"},
            {"FAKE_CHILDREN", "1"}, {"FAKE_IGNORE_TERM", "1"}});
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
    EXPECT_EQ(result.state, RunState::fail);
    ASSERT_TRUE(result.problem);
    EXPECT_NE(result.problem->line().find("rank 1"), std::string::npos) << result.problem->line();
    EXPECT_NE(result.problem->line().find("SIGKILL"), std::string::npos) << result.problem->line();
}

TEST_F(LocalRun, KeepsTheTrainersOwnReason)
{
    const RunResult result = run(2, {{"FAKE_STEPS", "1000"}, {"FAKE_FAIL_RANK", "1"}, {"FAKE_HOW", "oom"}});
    EXPECT_EQ(result.state, RunState::oom);
    ASSERT_TRUE(result.problem);
    EXPECT_NE(result.problem->line().find("out of memory in layer 3"), std::string::npos) << result.problem->line();
    expect_whole(observer.events, "oom");
}

TEST_F(LocalRun, StopLeavesNothingRunning)
{
    std::stop_source stop;
    observer.each_event = [&](const Json& event) {
        if (integer_field(event, "step") == 5)
            stop.request_stop();
    };
    const RunResult result
        = run(4, {{"FAKE_STEPS", "100000"}, {"FAKE_CHILDREN", "1"}, {"FAKE_IGNORE_TERM", "1"}}, stop.get_token());
    EXPECT_EQ(result.state, RunState::cancelled);
    expect_whole(observer.events, "cancelled");
    expect_same_as_node(result);
}

TEST_F(LocalRun, EndsDaemonsThatRanksLeaveBehind)
{
    const RunResult result = run(2, {{"FAKE_LEFTOVER", "1"}});
    EXPECT_EQ(result.state, RunState::ok);
}

TEST_F(LocalRun, SurvivesHostileOutput)
{
    const RunResult result = run(1, {{"FAKE_RUBBISH", "1"}, {"FAKE_STEPS", "3"}});
    EXPECT_EQ(result.state, RunState::ok);
    expect_whole(observer.events, "ok");
    EXPECT_EQ(steps_of(observer.events), (std::vector<int>{1, 2, 3}));
    const auto warnings = std::count_if(observer.events.begin(), observer.events.end(),
        [](const Json& event) { return text_field(event, "event") == "warning"; });
    EXPECT_EQ(warnings, 5); // four lines left out, one forged event without its seq
    for (const Json& event : observer.events) {
        if (text_field(event, "message") == "forged") {
            EXPECT_EQ(integer_field(event, "rank"), 0);
            EXPECT_FALSE(event.contains("agent"));
        }
    }
    expect_same_as_node(result);
}

// The client is a process of its own here, killed without a word; the agent goes on, attach gets every event once.
TEST_F(LocalRun, ClientKilledThenAttached)
{
    const RunRequest asked = request(home, 4, {{"FAKE_STEPS", "150"}, {"FAKE_STEP_MS", "20"}});
    ClientProcess client(asked);
    const std::string& id = client.id();
    const bool stepping = wait_until([&] {
        const auto store = HistoryStore::open(HistoryStore::default_file(), StoreMode::read_only);
        const auto run = store ? store->show(id) : Expected<RunDetail>(store.error());
        return run && run->summary.steps >= 10;
    });
    client.end(SIGKILL);
    ASSERT_TRUE(stepping);
    EXPECT_EQ(processes_of(id), 4) << "the ranks must outlive the client";
    const auto result = attach("last", observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->id, id);
    EXPECT_EQ(result->state, RunState::ok);
    EXPECT_EQ(processes_of(id), 0);
    const auto events = read_events(result->folder / "events.jsonl");
    expect_whole(events, "ok");
    std::vector<int> expected(150);
    for (int i = 0; i < 150; ++i)
        expected[static_cast<std::size_t>(i)] = i + 1;
    EXPECT_EQ(steps_of(events), expected);
    expect_same_as_node(*result);
    // Attached again it has nothing to do.
    Recording again;
    const auto second = attach(id.substr(0, 20), again, {});
    ASSERT_TRUE(second) << second.error().line();
    EXPECT_EQ(second->state, RunState::ok);
    EXPECT_TRUE(again.events.empty());
}

// `fourfold stop` wrote down its wish, and the program that was to carry it out went away before it did.
TEST_F(LocalRun, AttachedRunThatWasAskedToStop)
{
    const RunRequest asked = request(home, 2, {{"FAKE_STEPS", "100000"}, {"FAKE_STEP_MS", "20"}});
    ClientProcess client(asked);
    ASSERT_TRUE(wait_until([&] { return processes_of(client.id()) == 2; }));
    client.end(SIGKILL);
    std::ofstream(data_folder() / "runs" / client.id() / "stop") << "";
    const auto result = attach("last", observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::cancelled);
    EXPECT_EQ(processes_of(client.id()), 0);
}

// A node must not fill the client's disk: beyond the target's events_gib the run goes on, and its events can be
// fetched.
TEST_F(LocalRun, EventsBeyondTheLimitStayOnTheNodeUntilTheyAreFetched)
{
    RunRequest asked = request(home, 1, {{"FAKE_STEPS", "200"}});
    asked.target.events_gib = 20e3 / (1 << 30);
    const auto result = launch(asked, observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok);
    const auto told = [&] {
        return std::count_if(observer.texts.begin(), observer.texts.end(),
            [](const std::string& text) { return text.find("--all-events") != std::string::npos; });
    };
    EXPECT_GE(told(), 1);
    EXPECT_EQ(steps_of(observer.events).size(), 200u) << "it is seen to go on";
    const auto file = result->folder / "events.jsonl";
    EXPECT_LE(std::filesystem::file_size(file), 20'000u);
    const auto followed = data_folder() / "node/runs" / result->id / "followed";
    EXPECT_TRUE(result->events_left);
    EXPECT_FALSE(std::filesystem::exists(followed)) << "the node would clear away what only it has";
    const auto problem = [&] {
        const auto store = HistoryStore::open(HistoryStore::default_file(), StoreMode::read_only);
        const auto run = store ? store->show(result->id) : Expected<RunDetail>(store.error());
        return run ? std::string(name(run->summary.state)) + " " + run->summary.problem : run.error().line();
    };
    EXPECT_EQ(problem().find("ok more events than the target's events_gib"), 0u) << problem();
    Recording later;
    const auto same = attach(result->id, later, {});
    ASSERT_TRUE(same) << same.error().line();
    EXPECT_TRUE(later.events.empty()) << "it has ended";
    const auto all = attach(result->id, later, {}, {}, true);
    ASSERT_TRUE(all) << all.error().line();
    EXPECT_EQ(all->state, RunState::ok);
    EXPECT_FALSE(all->events_left);
    expect_whole(read_events(file), "ok");
    expect_same_as_node(*result);
    EXPECT_TRUE(std::filesystem::exists(followed));
    EXPECT_EQ(problem(), "ok ");
    // What the nodes have no more changes nothing of what is known.
    std::filesystem::remove_all(home.path() / "data/fourfold/node/runs");
    const auto again = attach(result->id, later, {}, {}, true);
    ASSERT_TRUE(again) << again.error().line();
    EXPECT_EQ(again->state, RunState::ok);
}

TEST_F(LocalRun, AttachDetachesOnRequestAndLeavesTheRun)
{
    const RunRequest asked = request(home, 1, {{"FAKE_STEPS", "60"}, {"FAKE_STEP_MS", "50"}});
    // The launching program goes away in the middle, in a process of its own.
    ClientProcess client(asked, [](Recording& own) {
        own.each_event = [](const Json& event) {
            if (integer_field(event, "step") == 3)
                raise(SIGKILL);
        };
    });
    EXPECT_EQ(client.end(), 128 + SIGKILL);
    std::stop_source stop;
    observer.each_event = [&](const Json& event) {
        if (integer_field(event, "step") == 10)
            stop.request_stop();
    };
    const auto detached = attach("last", observer, stop.get_token());
    ASSERT_TRUE(detached) << detached.error().line();
    EXPECT_EQ(detached->state, RunState::running);
    EXPECT_EQ(processes_of(detached->id), 1);
    Recording second;
    const auto result = attach("last", second, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok);
    EXPECT_EQ(steps_of(read_events(result->folder / "events.jsonl")).size(), 60u);
    expect_same_as_node(*result);
}

// The agent dies without a word: its ranks die with it, what they left is swept, and the run is `lost`, never `ok`.
TEST_F(LocalRun, AgentKilledLeavesNothing)
{
    observer.each_event = [&](const Json& event) {
        if (integer_field(event, "step") != 5)
            return;
        const auto status = read_json_file(data_folder() / "node/runs" / observer.id / "status.json");
        ASSERT_TRUE(status);
        ASSERT_EQ(kill(static_cast<pid_t>(integer_field(*status, "pid")), SIGKILL), 0);
    };
    const RunResult result = run(4, {{"FAKE_STEPS", "100000"}, {"FAKE_CHILDREN", "1"}, {"FAKE_STEP_MS", "10"}});
    EXPECT_EQ(result.state, RunState::lost);
    ASSERT_TRUE(result.problem);
    EXPECT_NE(result.problem->line().find("ended unexpectedly"), std::string::npos) << result.problem->line();
    expect_whole(observer.events, "lost");
    const std::vector<int> steps = steps_of(observer.events);
    for (std::size_t i = 0; i < steps.size(); ++i)
        ASSERT_EQ(steps[i], static_cast<int>(i) + 1);
    expect_same_as_node(result);
}

// A node's disk fills up: the run ends with a reason, its events stay whole.
TEST_F(LocalRun, FullDiskEndsTheRunWithAReason)
{
    const std::filesystem::path disk = home.path() / "disk";
    std::filesystem::create_directories(disk);
    if (geteuid() != 0 || mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=6m,mode=700") != 0)
        GTEST_SKIP() << "a small file system of one's own needs root and mount(2)";
    RunRequest asked
        = request(home, 2, {{"FAKE_STEPS", "100000"}, {"FAKE_FILL_BYTES", "16777216"}, {"FAKE_STEP_MS", "1"}});
    asked.target.base_folder = disk.string();
    const auto result = launch(asked, observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(processes_of(result->id), 0);
    EXPECT_EQ(result->state, RunState::fail);
    expect_whole(observer.events, "fail");
    ASSERT_TRUE(result->problem);
    const std::string line = result->problem->line();
    EXPECT_TRUE(line.find("No space left") != std::string::npos || line.find("disk is full") != std::string::npos)
        << line;
    EXPECT_EQ(text_of(result->folder / "events.jsonl"), text_of(disk / "runs" / result->id / "events.jsonl"));
    EXPECT_EQ(umount2(disk.c_str(), MNT_DETACH), 0);
}

// Too full to start on, in each of the places where that may be noticed: the first cause is told, at once.
TEST_F(LocalRun, ADiskThatIsFullBeforeTheStartIsTheCause)
{
    const std::filesystem::path disk = home.path() / "disk";
    std::filesystem::create_directories(disk);
    std::vector<std::string> sizes{"size=8k,mode=700", "size=40k,mode=700", "size=200k,mode=700", "size=900k,mode=700"};
    for (int inodes = 6; inodes <= 30; inodes += 3)
        sizes.push_back("mode=700,nr_inodes=" + std::to_string(inodes));
    for (const std::string& size : sizes) {
        if (geteuid() != 0 || mount("tmpfs", disk.c_str(), "tmpfs", 0, size.c_str()) != 0)
            GTEST_SKIP() << "a small file system of one's own needs root and mount(2)";
        RunRequest asked = request(home, 2, {{"FAKE_STEPS", "3"}});
        asked.target.base_folder = disk.string();
        Recording mine;
        const auto begin = std::chrono::steady_clock::now();
        const auto result = launch(asked, mine, {});
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60)) << size;
        EXPECT_EQ(umount2(disk.c_str(), MNT_DETACH), 0);
        if (result && result->state == RunState::ok)
            continue; // enough of them
        ASSERT_TRUE(!result || result->problem) << size;
        const std::string line = result ? result->problem->line() : result.error().line();
        EXPECT_TRUE(!result || result->state == RunState::fail) << size << ": " << line;
        const bool says = line.find("No space left") != std::string::npos || line.find("No inodes") != std::string::npos
            || line.find("disk is full") != std::string::npos;
        EXPECT_TRUE(says && line.find(disk.string()) != std::string::npos) << size << ": " << line;
        EXPECT_TRUE(!result || processes_of(result->id) == 0) << size;
    }
}

TEST_F(LocalRun, BadInputIsRefusedBeforeAnythingIsStored)
{
    const auto expect_refused = [&](const RunRequest& asked, const std::string& says) {
        const auto result = launch(asked, observer, {});
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().exit_status(), 2) << result.error().line();
        EXPECT_NE(result.error().line().find(says), std::string::npos) << result.error().line();
        EXPECT_FALSE(std::filesystem::exists(HistoryStore::default_file()));
        EXPECT_FALSE(std::filesystem::exists(data_folder() / "runs"));
    };
    RunRequest asked = request(home, 2, {});
    asked.trainer = home.path() / "no-such-trainer";
    expect_refused(asked, "no-such-trainer");
    asked = request(home, 2, {});
    asked.plan.run.data[0].path = "no-such-corpus.txt";
    expect_refused(asked, "no-such-corpus.txt");
    asked = request(home, 2, {});
    asked.steps = 0;
    expect_refused(asked, "--steps");
    asked = request(home, 2, {});
    asked.plan.layout.tp = 3;
    expect_refused(asked, "tp");
    asked = request(home, 2, {{"RANK", "7"}});
    expect_refused(asked, "RANK is set by the launcher");
    asked = request(home, 2, {});
    asked.target = *load_target("a@h1,h2,h3");
    expect_refused(asked, "do not spread evenly over 3 hosts");
}

TEST_F(LocalRun, AProgramThatCannotStartIsOneClearProblem)
{
    RunRequest asked = request(home, 2, {});
    asked.trainer = home.path() / "corpus.txt"; // exists, but is no program
    const auto result = launch(asked, observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::fail);
    ASSERT_TRUE(result->problem);
    EXPECT_NE(result->problem->line().find("cannot be executed"), std::string::npos) << result->problem->line();
}

TEST_F(LocalRun, AnotherStackIsPredictedAgain)
{
    RunRequest asked = request(home, 2, {{"FAKE_STEPS", "2"}});
    asked.plan.stack.id = "generic";
    const auto result = launch(asked, observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok);
    EXPECT_NE(observer.texts.front().find("stack generic"), std::string::npos) << observer.texts.front();
    const auto detail = HistoryStore::open(HistoryStore::default_file())->show("last");
    ASSERT_TRUE(detail);
    EXPECT_TRUE(detail->planned_prediction);
    EXPECT_EQ(detail->summary.stack, "fourfold");
}

TEST_F(LocalRun, OneFollowerAtATime)
{
    const RunRequest asked = request(home, 1, {{"FAKE_STEPS", "10"}, {"FAKE_STEP_MS", "200"}});
    observer.each_event = [&](const Json& event) {
        if (integer_field(event, "step") != 1)
            return;
        Recording other;
        const auto second = attach(observer.id, other, {});
        ASSERT_FALSE(second);
        EXPECT_EQ(second.error().code, ProblemCode::refused) << second.error().line();
    };
    const auto result = launch(asked, observer, {});
    ASSERT_TRUE(result);
    EXPECT_EQ(result->state, RunState::ok);
}

TEST_F(LocalRun, PreviewStartsNothing)
{
    const auto shown = preview(request(home, 4, {}));
    ASSERT_TRUE(shown) << shown.error().line();
    EXPECT_EQ(shown->document["hosts"][0]["ranks"].size(), 4u);
    EXPECT_NE(shown->text.find("fake-trainer"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(HistoryStore::default_file()));
    EXPECT_FALSE(std::filesystem::exists(data_folder()));
}

} // namespace
} // namespace fourfold::test
