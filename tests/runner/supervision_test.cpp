// SPDX-License-Identifier: GPL-3.0-or-later
// What the agent does by itself for the ranks it owns: environment, limits, stalls, floods, leases, its own death.
#include "core/history/clock.h"
#include "core/history/store.h"
#include "runner/protocol/message.h"
#include "runner/protocol/straggler.h"
#include "tests/runner/support.h"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>
#include <thread>

namespace fourfold::test {

using namespace std::chrono_literals;

namespace {

class Supervision : public testing::Test {
protected:
    Expected<RunResult> run(RunRequest asked, std::stop_token stop = {})
    {
        auto result = launch(asked, observer, stop);
        EXPECT_TRUE(result) << (result ? "" : result.error().line());
        if (result) {
            EXPECT_EQ(processes_of(result->id), 0) << "nothing of a run may be left";
        }
        return result;
    }
    // Fast enough for a test.
    RunRequest watched(const std::map<std::string, std::string>& environment)
    {
        RunRequest out = request(home, 2, environment);
        out.target.stall_s = 2;
        out.target.first_step_s = 20;
        out.target.hang_s = 1.5;
        return out;
    }
    [[nodiscard]] std::string log_of(int rank) const
    {
        const auto text = read_text_file(observer.folder / ("rank" + std::to_string(rank) + ".log"), 64u << 20);
        return text ? *text : "";
    }
    [[nodiscard]] const Json* warning(const std::string& kind) const
    {
        const auto at = std::find_if(observer.events.begin(), observer.events.end(),
            [&](const Json& event) { return text_field(event, "kind") == kind; });
        return at == observer.events.end() ? nullptr : &*at;
    }

    Home home;
    Recording observer;
};

TEST_F(Supervision, AStalledRunNamesTheLaggardAndEndsAsHang)
{
    const auto result = run(watched({{"FAKE_PROGRESS", "1"}, {"FAKE_STEPS", "100"}, {"FAKE_STEP_MS", "20"},
        {"FAKE_FAIL_RANK", "1"}, {"FAKE_FAIL_STEP", "20"}, {"FAKE_HOW", "hang"}}));
    ASSERT_TRUE(result);
    EXPECT_EQ(result->state, RunState::hang);
    expect_whole(observer.events, "hang");
    const Json* stalled = warning("stalled");
    ASSERT_TRUE(stalled);
    const std::string message = text_field(*stalled, "message");
    EXPECT_NE(
        message.find("rank 1 (tp 1, cp 0, pp 0, dp 0) on this computer is in no collective since"), std::string::npos)
        << message;
    EXPECT_NE(message.find("waits in all_reduce of 64 bytes"), std::string::npos) << message;
    const Json& ranks = array_field(*stalled, "ranks");
    ASSERT_EQ(ranks.size(), 2u);
    EXPECT_EQ(integer_field(ranks[0], "number"), 20);
    EXPECT_EQ(integer_field(ranks[1], "number"), 19);
    EXPECT_NE(text_field(ranks[1], "stack").find("fake-trainer"), std::string::npos) << ranks[1].dump();
    EXPECT_FALSE(array_field(ranks[1], "threads").empty());
    ASSERT_TRUE(result->problem);
    EXPECT_NE(result->problem->line().find("nothing moves for"), std::string::npos) << result->problem->line();
}

TEST_F(Supervision, ARankThatASignalStoppedIsNamed)
{
    const auto result = run(watched({{"FAKE_STEPS", "100"}, {"FAKE_STEP_MS", "20"}, {"FAKE_FAIL_RANK", "0"},
        {"FAKE_FAIL_STEP", "10"}, {"FAKE_HOW", "pause"}}));
    ASSERT_TRUE(result);
    EXPECT_EQ(result->state, RunState::hang);
    ASSERT_TRUE(warning("stalled"));
    EXPECT_NE(
        text_field(*warning("stalled"), "message").find("rank 0 (tp 0, cp 0, pp 0, dp 0) on this computer is stopped"),
        std::string::npos)
        << warning("stalled")->dump();
}

TEST_F(Supervision, OneDeadRankStopsTheOthersAtOnce)
{
    RunRequest asked = request(home, 4,
        {{"FAKE_STEPS", "100000"}, {"FAKE_FAIL_RANK", "2"}, {"FAKE_FAIL_STEP", "30"}, {"FAKE_HOW", "kill"},
            {"FAKE_IGNORE_TERM", "1"}, {"FAKE_CHILDREN", "1"}, {"FAKE_PROGRESS", "1"}});
    asked.target.stop_grace_s = 10; // for a stop on request alone
    const auto result = run(asked);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->state, RunState::fail);
    EXPECT_NE(result->problem->line().find("rank 2 (tp 0, cp 0, pp 0, dp 1) on this computer: killed by SIGKILL"),
        std::string::npos)
        << result->problem->line();
    // What it was about when it could tell nothing any more.
    EXPECT_TRUE(text_field(last_event(observer.events, "error"), "last_collective")
                    .starts_with("all_reduce of 64 bytes in group world (ranks 0 1) (operation 29, finished "))
        << last_event(observer.events, "error").dump();
    // Measured by bench_launch at 0.05 to 0.09 s.
    const auto when = [&](const char* kind) {
        return history::seconds_of(text_field(last_event(observer.events, kind), "time")).value_or(0);
    };
    EXPECT_GT(when("error"), 0);
    EXPECT_LT(when("end") - when("error"), 3);
}

// Two seconds are enough for ranks that have nothing to keep. Those that save checkpoints end their step and save one,
// which takes as long as it takes.
TEST_F(Supervision, RanksThatAreStoppedEndTheirSave)
{
    const auto stopped = [&](const std::string& save_ms, int every, double save_s) {
        RunRequest asked = request(home, 2, {{"FAKE_STEPS", "1000000"}, {"FAKE_SAVE_MS", save_ms}});
        asked.plan.run.checkpoint.every = every;
        asked.target.stop_grace_s = 0.1;
        asked.target.save_s = save_s;
        std::stop_source stop;
        observer.each_event = [&](const Json& event) {
            if (text_field(event, "event") == "step")
                stop.request_stop();
        };
        observer.texts.clear();
        const auto result = run(asked, stop.get_token());
        EXPECT_TRUE(result && result->state == RunState::cancelled);
        const std::string message = text_field(last_event(observer.events, "end"), "message");
        EXPECT_THAT(message, testing::Not(testing::HasSubstr("cannot be killed"))) << "nobody had the time to end";
        const auto node = home.path() / "data/fourfold/node/runs" / result->id;
        return std::filesystem::exists(node / "saved0.whole") + std::filesystem::exists(node / "saved1.whole");
    };
    EXPECT_EQ(stopped("1500", 100, 600), 2);
    EXPECT_THAT(
        observer.texts, testing::Contains(testing::HasSubstr("its ranks end their step and save a checkpoint")));
    EXPECT_THAT(
        text_field(last_event(observer.events, "warning"), "message"), testing::Not(testing::HasSubstr("saved")));
    EXPECT_EQ(stopped("60000", 100, 0.3), 0) << "not longer than the target allows";
    EXPECT_THAT(text_field(last_event(observer.events, "warning"), "message"),
        testing::AllOf(testing::HasSubstr("ended before they had saved a checkpoint"),
            testing::HasSubstr("timeouts.save_s is 0.3 s")));
    EXPECT_EQ(stopped("60000", 100, 5.2), 0) << "killed later than what cannot be killed is given up";
    EXPECT_EQ(stopped("60000", 0, 600), 0) << "the plan saves nothing";
}

TEST_F(Supervision, AFloodOfOutputIsCapped)
{
    const auto result = run(request(home, 2, {{"FAKE_PRINT_BYTES", std::to_string(100 << 20)}, {"FAKE_STEPS", "3"}}));
    ASSERT_TRUE(result);
    EXPECT_EQ(result->state, RunState::ok);
    const std::filesystem::path node = home.path() / "data/fourfold/node/runs" / result->id;
    EXPECT_LT(std::filesystem::file_size(node / "rank0.log"), 40u << 20);
    EXPECT_FALSE(std::filesystem::exists(node / "rank0.log.tail0"));
    EXPECT_FALSE(std::filesystem::exists(node / "rank0.log.tail1"));
    EXPECT_NE(log_of(0).find("the last words"), std::string::npos) << "the end is kept";
    EXPECT_TRUE(std::any_of(observer.events.begin(), observer.events.end(),
        [](const Json& event) { return text_field(event, "message").find("prints so much") != std::string::npos; }));
    expect_whole(observer.events, "ok");
}

TEST_F(Supervision, ThePreludesEnvironmentReachesTheRanks)
{
    RunRequest asked = request(home, 2, {{"FAKE_STEPS", "2"}});
    asked.target.prelude = {"# a comment", "export FAKE_NOTE=\"from the prelude $((6*7))\"", "echo loaded"};
    const auto result = run(asked);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->state, RunState::ok);
    EXPECT_NE(log_of(1).find("from the prelude 42"), std::string::npos) << log_of(1);
    asked.target.prelude = {"export PATH=/opt/nothing", "cat() { false; }", "export FAKE_NOTE=bare"};
    ASSERT_TRUE(run(asked)); // a forgotten ":$PATH" leaves no program to find
    EXPECT_NE(log_of(1).find("bare"), std::string::npos) << log_of(1);
    asked.target.prelude = {"true", "echo no such module >&2; false", "true"};
    const auto refused = launch(asked, observer, {});
    ASSERT_FALSE(refused);
    EXPECT_NE(
        refused.error().line().find("the prelude failed; it printed: no such module | line 2 ended with status 1"),
        std::string::npos)
        << refused.error().line();
    asked.target.prelude = {"set -e", "false"};
    const auto early = launch(asked, observer, {});
    ASSERT_FALSE(early);
    EXPECT_NE(early.error().line().find("the prelude ended with exit status 1; it printed nothing"), std::string::npos)
        << early.error().line();
    asked.target.prelude = {"sleep 600"};
    asked.target.prelude_s = 1;
    const auto late = launch(asked, observer, {});
    ASSERT_FALSE(late);
    EXPECT_NE(late.error().line().find("did not end within 1 s"), std::string::npos) << late.error().line();
}

TEST_F(Supervision, ACommandOfThePreludeMayGoOnInTheNextLine)
{
    RunRequest asked = request(home, 1, {{"FAKE_STEPS", "1"}});
    asked.target.prelude = {"if false; then", "exit 3", "else", "export FAKE_NOTE=\\", "'of several lines'", "fi",
        "case x in", "x) true;;", "esac", "cat <<END", "a here document", "END", "true &&", "true"};
    const auto result = run(asked);
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok);
    EXPECT_NE(log_of(0).find("of several lines"), std::string::npos) << log_of(0);
    asked.target.prelude = {"if true; then", "false", "fi", "echo not reached"};
    const auto refused = launch(asked, observer, {});
    ASSERT_FALSE(refused);
    EXPECT_NE(
        refused.error().line().find("the prelude failed; it printed: line 3 ended with status 1"), std::string::npos)
        << refused.error().line();
}

// Whether a process whose command line holds `text` runs; waits a while for it to end.
bool goes_on(const std::string& text)
{
    using Clock = std::chrono::steady_clock;
    for (const auto until = Clock::now() + std::chrono::seconds(30);; usleep(20000)) {
        bool found = false;
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
            const auto command = read_text_file(entry.path() / "cmdline");
            found = found || (command && command->find(text) != std::string::npos);
        }
        if (!found || Clock::now() > until)
            return found;
    }
}

// `ssh-agent` and the like may serve the ranks. Whatever holds the output or the environment of the prelude open, and
// whatever left its group, its session or its environment, the prelude has ended when its shell has.
TEST_F(Supervision, WhatAPreludeLeavesRunningLastsAsLongAsTheRun)
{
    RunRequest asked = request(home, 2, {{"FAKE_STEPS", "10"}, {"FAKE_STEP_MS", "50"}});
    const std::string log = (home.path() / "ticks").string();
    asked.target.prelude = {"sleep 3601.25 &", "setsid nohup sleep 3602.25 >/dev/null 2>&1 &",
        "env -i setsid sleep 3603.25 & export FAKE_NOTE=after",
        "(while sleep 0.05; do echo tick; echo tick >> " + log + "; done) &", "export SSH_AUTH_SOCK=/of/the/prelude"};
    asked.target.prelude_s = 60;
    const auto ticks = [&] {
        const auto text = read_text_file(log);
        return text ? std::count(text->begin(), text->end(), '\n') : 0;
    };
    std::ptrdiff_t first = -1, last = -1;
    observer.each_event = [&](const Json& event) {
        if (text_field(event, "event") == "step")
            (first < 0 ? first : last) = ticks();
    };
    const auto result = run(asked);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->state, RunState::ok) << (result->problem ? result->problem->line() : "");
    EXPECT_NE(log_of(0).find("after"), std::string::npos) << log_of(0);
    EXPECT_GT(last, first) << "it ran, and could print, beside the ranks";
    const auto said = std::find_if(observer.events.begin(), observer.events.end(), [](const Json& event) {
        return text_field(event, "message").find("the prelude left running: ") != std::string::npos;
    });
    ASSERT_NE(said, observer.events.end());
    EXPECT_NE(text_field(*said, "message").find("sleep (pid "), std::string::npos) << said->dump();
    for (const char* command : {"3601.25", "3602.25", "3603.25"})
        EXPECT_FALSE(goes_on(command)) << command;
    EXPECT_FALSE(goes_on(result->id + "/prelude.sh"));

    // Nor does it outlast a run that never starts.
    asked.target.prelude = {
        "env -i setsid sleep 3604.25 &", "mkdir only && ln -s \"$(command -v cat)\" only && export PATH=\"$PWD/only\""};
    asked.target.container = Container{"/images/train.sif", {}};
    const auto refused = launch(asked, observer, {});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().line().find("apptainer"), std::string::npos) << refused.error().line();
    EXPECT_FALSE(goes_on("3604.25"));
}

TEST_F(Supervision, NothingOfAFailedPreludeRunsOn)
{
    RunRequest asked = request(home, 1, {});
    asked.target.prelude = {"env -i setsid sleep 3605.25 &", "false"};
    const auto failed = launch(asked, observer, {});
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().line().find("line 2 ended with status 1"), std::string::npos) << failed.error().line();
    asked.target.prelude = {"setsid sleep 3606.25 & sleep 3607.25"};
    asked.target.prelude_s = 1;
    const auto late = launch(asked, observer, {});
    ASSERT_FALSE(late);
    EXPECT_NE(late.error().line().find("did not end within 1 s"), std::string::npos) << late.error().line();
    for (const char* command : {"3605.25", "3606.25", "3607.25"})
        EXPECT_FALSE(goes_on(command)) << command;
}

TEST_F(Supervision, APreludeThatPrintsWithoutEndFillsNoDisk)
{
    RunRequest asked = request(home, 1, {});
    asked.target.prelude = {"echo the first words", "timeout 3 yes; echo the last words >&2", "false"};
    const auto failed = launch(asked, observer, {});
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().line().find("the last words | line 3 ended"), std::string::npos) << failed.error().line();
    int logs = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(home.path() / "data")) {
        if (!entry.path().filename().string().starts_with("prelude.log"))
            continue;
        ++logs;
        const auto text = read_text_file(entry.path(), 8u << 20);
        ASSERT_TRUE(text) << text.error().line();
        EXPECT_TRUE(text->starts_with("the first words\n"));
    }
    EXPECT_EQ(logs, 1);
}

// A stand-in for apptainer notes what it is given and runs the command.
TEST_F(Supervision, RanksRunInAContainer)
{
    const auto bin = home.path() / "fakebin";
    std::filesystem::create_directories(bin);
    std::ofstream(bin / "apptainer")
        << "#!/bin/sh\necho \"$@\" > " << (home.path() / "args").string()
        << "\nshift\nwhile [ \"$1\" = --bind ] || [ \"$1\" = --nv ]; do [ \"$1\" = --bind ] "
           "&& shift; shift; done\nshift\nexec \"$@\"\n";
    chmod((bin / "apptainer").c_str(), 0755);
    RunRequest asked = request(home, 1, {{"FAKE_STEPS", "2"}});
    asked.target.container = Container{"/images/train.sif", {"/data:/mnt:ro"}};
    const auto none = launch(asked, observer, {});
    ASSERT_FALSE(none);
    EXPECT_NE(none.error().line().find("neither apptainer nor singularity"), std::string::npos) << none.error().line();
    asked.target.prelude = {"export PATH=" + bin.string() + ":$PATH"};
    const auto result = run(asked);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->state, RunState::ok) << (result->problem ? result->problem->line() : "");
    const auto args = read_text_file(home.path() / "args");
    ASSERT_TRUE(args);
    EXPECT_NE(args->find("--bind /data:/mnt:ro /images/train.sif "), std::string::npos) << *args;
}

TEST_F(Supervision, SecretsReachTheRanksAndAreStoredNowhere)
{
    setenv("FF_TEST_TOKEN", "s3cr3t-value-of-the-test", 1);
    RunRequest asked = request(home, 2, {{"FAKE_STEPS", "2"}, {"FAKE_SECRET", "FF_TEST_TOKEN"}});
    asked.target.secrets = {"FF_TEST_TOKEN"};
    const auto result = run(asked);
    ASSERT_TRUE(result);
    EXPECT_NE(log_of(0).find("secret of 24 bytes"), std::string::npos) << log_of(0);
    int files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(home.path() / "data")) {
        if (!entry.is_regular_file())
            continue;
        ++files;
        const auto text = read_text_file(entry.path(), 64u << 20);
        EXPECT_TRUE(!text || text->find("s3cr3t-value") == std::string::npos) << entry.path();
    }
    EXPECT_GT(files, 8);
    unsetenv("FF_TEST_TOKEN");
    const auto unset = launch(asked, observer, {});
    ASSERT_FALSE(unset);
    EXPECT_EQ(unset.error().exit_status(), 2);
}

TEST_F(Supervision, AnAbandonedRunEndsWithItsLease)
{
    RunRequest asked = request(home, 2, {{"FAKE_STEPS", "100000"}, {"FAKE_STEP_MS", "20"}});
    asked.target.lease_s = 5;
    // A client that is killed leaves its run behind.
    ClientProcess client(asked);
    const std::string& id = client.id();
    const auto lease = home.path() / "data/fourfold/node/runs" / id / "lease";
    std::error_code error;
    ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(lease, error); }));
    const auto first = std::filesystem::last_write_time(lease);
    ASSERT_TRUE(wait_until([&] { return std::filesystem::last_write_time(lease) - first > 6s; }))
        << "the run lives beyond its lease while it is followed";
    client.end(SIGKILL);
    EXPECT_TRUE(wait_until([&] { return processes_of(id) == 0; }));
    const auto result = attach(id, observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::cancelled);
    EXPECT_NE(result->problem->line().find("nobody has followed the run"), std::string::npos)
        << result->problem->line();
}

// A computer that is suspended (here: whoever watches and whoever follows) may sleep for longer than the lease.
TEST_F(Supervision, TheLeaseIsNotCountedWhileNothingRuns)
{
    RunRequest asked = request(home, 2, {{"FAKE_STEPS", "250"}, {"FAKE_STEP_MS", "20"}});
    asked.target.lease_s = 3;
    ClientProcess client(asked);
    const std::string& id = client.id();
    const auto folder = home.path() / "data/fourfold/node/runs" / id;
    ASSERT_TRUE(wait_until([&] {
        const auto events = read_events(folder / "events.jsonl");
        return !steps_of(events).empty();
    }));
    const auto status = read_json_file(folder / "status.json");
    ASSERT_TRUE(status) << status.error().line();
    const auto supervisor = static_cast<pid_t>(integer_field(*status, "pid"));
    client.signal(SIGSTOP);
    kill(supervisor, SIGSTOP);
    std::this_thread::sleep_for(3500ms);
    kill(supervisor, SIGCONT);
    std::this_thread::sleep_for(500ms); // it looks at the lease before the client has asked anything
    client.signal(SIGCONT);
    EXPECT_EQ(client.end(), 0) << last_event(read_events(folder / "events.jsonl"), "end").dump();
}

// The clock of the node jumps a century back and forth: a run that is followed goes on.
TEST_F(Supervision, AClockThatJumpsEndsNothing)
{
    RunRequest asked = request(home, 2, {{"FAKE_STEPS", "300"}, {"FAKE_STEP_MS", "20"}});
    asked.target.lease_s = 3;
    observer.each_event = [&](const Json& event) {
        const auto step = integer_field(event, "step");
        if (step != 50 && step != 150)
            return;
        const timespec time{step == 50 ? 1'000'000'000 : 4'000'000'000, 0};
        const timespec both[2] = {time, time};
        const auto lease = home.path() / "data/fourfold/node/runs" / observer.id / "lease";
        EXPECT_EQ(utimensat(AT_FDCWD, lease.c_str(), both, 0), 0) << "as if it had been touched before the jump";
    };
    const auto result = run(asked);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->state, RunState::ok) << (result->problem ? result->problem->line() : "");
    EXPECT_EQ(steps_of(observer.events).size(), 300u);
}

// Where everybody who watches dies, the ranks end at once, and what else they started with the next look at the run.
TEST_F(Supervision, WhatNobodyWatchesAnyMoreEndsWithTheNextLook)
{
    const RunRequest asked = request(home, 2, {{"FAKE_STEPS", "100000"}, {"FAKE_CHILDREN", "1"}});
    ClientProcess client(asked);
    const std::string& id = client.id();
    pid_t supervisor = 0;
    ASSERT_TRUE(wait_until([&] {
        const auto status = read_json_file(home.path() / "data/fourfold/node/runs" / id / "status.json");
        supervisor = status ? static_cast<pid_t>(integer_field(*status, "pid")) : 0;
        return supervisor > 0 && processes_of(id) == 8;
    })) << processes_of(id);
    client.end(SIGKILL);
    const pid_t guardian = parent_of(supervisor);
    ASSERT_GT(guardian, 1);
    kill(guardian, SIGKILL);
    kill(supervisor, SIGKILL);
    EXPECT_TRUE(wait_until([&] { return processes_of(id) == 6; }, 5)) << "three helpers of each rank";
    const auto result = attach(id, observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::lost);
    EXPECT_TRUE(wait_until([&] { return processes_of(id) == 0; }, 5));
}

// The agent's guardian cleans up and writes the end, without any client.
TEST_F(Supervision, AKilledAgentLeavesNothingRunning)
{
    pid_t supervisor = 0;
    observer.each_event = [&](const Json& event) {
        if (integer_field(event, "step") != 20 || supervisor != 0)
            return;
        const auto status = read_json_file(home.path() / "data/fourfold/node/runs" / observer.id / "status.json");
        supervisor = static_cast<pid_t>(integer_field(*status, "pid"));
        kill(supervisor, SIGKILL);
    };
    const auto begin = std::chrono::steady_clock::now();
    const auto result = run(request(home, 2, {{"FAKE_STEPS", "100000"}, {"FAKE_CHILDREN", "1"}}));
    ASSERT_TRUE(result);
    EXPECT_EQ(result->state, RunState::lost);
    expect_whole(observer.events, "lost");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

Json rank(int number, bool inside, int group_number, double since, const std::string& process = "S")
{
    return {{"rank", number}, {"host", "h" + std::to_string(number / 2)},
        {"coordinates", {{"tp", number % 2}, {"dp", number / 2}}}, {"process", process}, {"number", 10},
        {"group_number", group_number}, {"inside", inside}, {"since_s", since}, {"operation", "all_reduce"},
        {"group", "dp"}};
}

TEST(Laggards, AreNamedFromWhatRanksWereLastSeenDoing)
{
    EXPECT_EQ(name_straggler(Json::array()), "");
    EXPECT_NE(name_straggler({rank(0, true, 5, 60), rank(1, false, 4, 70), rank(2, true, 5, 60)})
                  .find("rank 1 (tp 1, dp 0) on h0 is in no collective since 70 s"),
        std::string::npos);
    EXPECT_NE(name_straggler({rank(0, true, 5, 60), rank(1, true, 4, 70)}).find("rank 1 (tp 1, dp 0) on h0 is behind"),
        std::string::npos);
    EXPECT_NE(
        name_straggler({rank(0, true, 5, 60), rank(3, true, 5, 70, "T")}).find("rank 3 (tp 1, dp 1) on h1 is stopped"),
        std::string::npos);
    EXPECT_NE(name_straggler({rank(0, true, 5, 60), rank(1, true, 5, 70)}).find("all ranks are in collectives"),
        std::string::npos);
    EXPECT_NE(name_straggler({rank(0, false, 5, 60), rank(1, false, 5, 70)}).find("no rank is in a collective"),
        std::string::npos);
    EXPECT_EQ(name_straggler({Json{{"rank", 0}}}), "the ranks have not reported a collective");
    EXPECT_NO_THROW(name_straggler({Json("text"), Json(1), Json::array()}));
}

} // namespace
} // namespace fourfold::test
