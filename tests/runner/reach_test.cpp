// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks are never out of reach: whatever becomes of the run folder, and when an agent hangs, they are found, followed
// and ended, and the run ends with what is true of it.
#include "runner/protocol/message.h"
#include "runner/runs/stop.h"
#include "tests/runner/support.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

namespace fourfold::test {
namespace {

class Reach : public testing::Test {
protected:
    RunRequest endless(const std::map<std::string, std::string>& more = {})
    {
        std::map<std::string, std::string> environment{{"FAKE_STEPS", "100000"}, {"FAKE_STEP_MS", "20"}};
        environment.insert(more.begin(), more.end());
        return request(home, 2, environment);
    }
    [[nodiscard]] std::filesystem::path folder() const { return home.path() / "data/fourfold/node/runs" / observer.id; }
    [[nodiscard]] pid_t supervisor() const
    {
        const auto status = read_json_file(folder() / "status.json");
        return status ? static_cast<pid_t>(integer_field(*status, "pid")) : 0;
    }
    // This program's sessions with agents.
    static std::vector<pid_t> sessions()
    {
        std::vector<pid_t> out;
        for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
            const pid_t pid = std::atoi(entry.path().filename().c_str());
            std::ifstream in(entry.path() / "cmdline", std::ios::binary);
            std::stringstream text;
            text << in.rdbuf();
            if (pid > 0 && parent_of(pid) == getpid() && text.str().find("fourfold-agent") != std::string::npos)
                out.push_back(pid);
        }
        return out;
    }
    static void end_sessions()
    {
        for (const pid_t session : sessions())
            kill(session, SIGKILL);
    }
    // Does `act` once when the run has come to step `step`.
    void at_step(int step, std::function<void()> act)
    {
        observer.each_event = [this, step, act = std::move(act)](const Json& event) {
            if (integer_field(event, "step") >= step && !std::exchange(acted_, true))
                act();
        };
    }
    // Does `act` once when the run is said to be in this trouble.
    void when_told(const std::string& words, std::function<void()> act)
    {
        observer.each_state = [this, words, act = std::move(act)](RunState, const std::string& what) {
            if (what.find(words) != std::string::npos && !std::exchange(told_, true))
                act();
        };
    }
    // Does `mend` once when this trouble is told, and stops the run when it is told that all is well.
    void mend_when_told(const std::string& words, std::function<void()> mend)
    {
        observer.each_state = [this, words, mend = std::move(mend)](RunState, const std::string& what) {
            if (what.find("all is well again") != std::string::npos)
                stop.request_stop();
            else if (what.find(words) != std::string::npos && !std::exchange(told_, true))
                mend();
        };
    }
    [[nodiscard]] bool said(const std::string& words) const
    {
        return std::any_of(observer.texts.begin(), observer.texts.end(),
            [&](const std::string& text) { return text.find(words) != std::string::npos; });
    }
    RunResult follow(const RunRequest& asked)
    {
        const auto result = launch(asked, observer, stop.get_token());
        EXPECT_TRUE(result) << result.error().line();
        EXPECT_TRUE(!result || processes_of(result->id) == 0) << "nothing of the run may be left";
        for (const std::string& text : observer.texts)
            printf("  %s\n", text.c_str());
        return result ? *result : RunResult{};
    }
    // In the place of the run folder stands something that cannot be looked into, also by root: a link to itself.
    void hide() const
    {
        std::filesystem::rename(folder(), home.path() / "away");
        std::filesystem::create_symlink(folder(), folder());
    }
    // Its agent goes on writing into it meanwhile.
    void remove() const
    {
        std::error_code error;
        do
            std::filesystem::remove_all(folder(), error);
        while (std::filesystem::exists(folder()));
    }
    void bring_back() const
    {
        std::filesystem::remove(folder());
        std::filesystem::rename(home.path() / "away", folder());
    }

    Home home;
    Recording observer;
    std::stop_source stop;

private:
    bool acted_ = false, told_ = false;
};

TEST_F(Reach, AFolderThatCannotBeReadForAMomentChangesNothing)
{
    at_step(20, [&] {
        hide();
        end_sessions();
    });
    mend_when_told("the run folder cannot be read: Too many levels of symbolic links", [&] { bring_back(); });
    const RunResult result = follow(endless());
    EXPECT_EQ(result.state, RunState::cancelled);
    expect_whole(observer.events, "cancelled");
    EXPECT_EQ(read_events(folder() / "events.jsonl"), observer.events);
}

// The trouble was told by one session, its end is seen by the next one only.
TEST_F(Reach, WhatIsWellAgainIsToldAlsoAfterTheLinkBroke)
{
    at_step(20, [&] { hide(); });
    mend_when_told("the run folder", [&] {
        end_sessions();
        bring_back();
    });
    EXPECT_EQ(follow(endless()).state, RunState::cancelled);
    expect_whole(observer.events, "cancelled");
}

TEST_F(Reach, AStopReachesTheRanksOfAFolderThatCannotBeRead)
{
    at_step(20, [&] {
        hide();
        end_sessions();
    });
    when_told("the run folder cannot be read", [&] { stop.request_stop(); });
    const RunResult result = follow(endless({{"FAKE_IGNORE_TERM", "1"}, {"FAKE_CHILDREN", "1"}}));
    EXPECT_EQ(result.state, RunState::cancelled);
    expect_whole(observer.events, "cancelled"); // through the file that the agent has open
    bring_back();
    const auto again = attach(observer.id, observer, {});
    ASSERT_TRUE(again);
    EXPECT_EQ(again->state, RunState::cancelled);
}

// As root it takes a disk error to keep a folder from being read; a session without that right is told by its mode.
TEST_F(Reach, AFolderWithoutPermissionIsUnknownAndNotGone)
{
    if (geteuid() == 0)
        GTEST_SKIP() << "root may read everything";
    at_step(20, [&] {
        chmod(folder().c_str(), 0);
        end_sessions();
    });
    when_told("the run folder cannot be read: Permission denied", [&] {
        chmod(folder().c_str(), 0700);
        stop.request_stop();
    });
    EXPECT_EQ(follow(endless()).state, RunState::cancelled);
    expect_whole(observer.events, "cancelled");
}

TEST_F(Reach, AStopReachesTheRanksOfARemovedFolder)
{
    at_step(20, [&] { remove(); });
    when_told("the run folder is gone", [&] { stop.request_stop(); });
    const RunResult result = follow(endless());
    EXPECT_EQ(result.state, RunState::cancelled);
    expect_whole(observer.events, "cancelled");
    EXPECT_NE(text_field(last_event(observer.events, "warning"), "message").find("was removed while the run went"),
        std::string::npos);
    // Whoever asks the node later is told the same.
    EXPECT_EQ(read_events(folder() / "events.jsonl"), observer.events);
    const auto status = read_json_file(folder() / "status.json");
    ASSERT_TRUE(status) << status.error().line();
    EXPECT_EQ(text_field(*status, "status"), "cancelled");
}

TEST_F(Reach, ARunWhoseFolderWasRemovedEndsAsItEnds)
{
    at_step(20, [&] { remove(); });
    const RunResult result = follow(request(home, 2, {{"FAKE_STEPS", "60"}, {"FAKE_STEP_MS", "20"}}));
    EXPECT_EQ(result.state, RunState::ok);
    EXPECT_EQ(steps_of(observer.events).size(), 60u);
    expect_whole(observer.events, "ok");
}

// As where another node of the run shares the file system and has made the folder again already.
TEST_F(Reach, AFolderThatWasMadeAgainGetsItsEventsBack)
{
    at_step(20, [&] {
        remove();
        std::filesystem::create_directories(folder() / "node1");
    });
    const RunResult result = follow(request(home, 2, {{"FAKE_STEPS", "60"}, {"FAKE_STEP_MS", "20"}}));
    EXPECT_EQ(result.state, RunState::ok);
    expect_whole(observer.events, "ok");
    EXPECT_EQ(read_events(folder() / "events.jsonl"), observer.events);
}

// As with a state that is immutable (chattr +i): a folder in its place stops root too.
TEST_F(Reach, ARunWhoseStateCannotBeWrittenEndsAsItEnds)
{
    const auto forbid = [&] {
        do
            std::filesystem::remove(folder() / "status.json");
        while (!std::filesystem::create_directory(folder() / "status.json"));
    };
    at_step(20, forbid);
    // Longer than the second between two states.
    RunResult result = follow(request(home, 2, {{"FAKE_STEPS", "100"}, {"FAKE_STEP_MS", "20"}}));
    EXPECT_EQ(result.state, RunState::ok);
    expect_whole(observer.events, "ok");
    EXPECT_NE(text_field(last_event(observer.events, "warning"), "message").find("the run's state cannot be written"),
        std::string::npos);
    Recording again;
    const auto attached = attach(result.id, again, {});
    ASSERT_TRUE(attached) << attached.error().line();
    EXPECT_EQ(attached->state, RunState::ok);
}

TEST_F(Reach, ARunWhoseStateCannotBeWrittenIsStopped)
{
    at_step(20, [&] {
        do
            std::filesystem::remove(folder() / "status.json");
        while (!std::filesystem::create_directory(folder() / "status.json"));
        end_sessions();
        stop.request_stop();
    });
    EXPECT_EQ(follow(endless()).state, RunState::cancelled);
    expect_whole(observer.events, "cancelled");
}

TEST_F(Reach, AStateThatSomebodyReplacedIsNotBelieved)
{
    pid_t agent = 0;
    at_step(20, [&] {
        agent = supervisor();
        kill(agent, SIGSTOP); // it would write its own again
        std::ofstream(folder() / "status.json") << R"({"state":"ended","status":"ok"})";
        end_sessions();
    });
    when_told("does not answer", [&] {
        kill(agent, SIGCONT);
        stop.request_stop();
    });
    EXPECT_EQ(follow(endless()).state, RunState::cancelled);
    expect_whole(observer.events, "cancelled");
}

TEST_F(Reach, APipeInThePlaceOfTheEventsStopsNobody)
{
    at_step(20, [&] {
        std::filesystem::remove(folder() / "events.jsonl");
        ASSERT_EQ(mkfifo((folder() / "events.jsonl").c_str(), 0600), 0);
        end_sessions();
    });
    const RunResult result = follow(request(home, 2, {{"FAKE_STEPS", "60"}, {"FAKE_STEP_MS", "20"}}));
    EXPECT_EQ(result.state, RunState::ok);
    expect_whole(observer.events, "ok");
    EXPECT_EQ(read_events(folder() / "events.jsonl"), observer.events);
}

TEST_F(Reach, AFileInThePlaceOfTheFolder)
{
    at_step(20, [&] {
        remove();
        std::ofstream(folder()) << "not a folder";
    });
    when_told("the run folder cannot be read: Not a directory", [&] { stop.request_stop(); });
    const RunResult result = follow(endless());
    EXPECT_EQ(result.state, RunState::cancelled);
    expect_whole(observer.events, "cancelled");
    EXPECT_EQ(read_text_file(folder()).value(), "not a folder") << "it is somebody's";
}

// The state could not be written any more, the events could: they say how the run ended.
TEST_F(Reach, ARunThatEndsWhileItsFolderIsAwayHasItsTrueEnd)
{
    RunRequest asked = request(home, 2, {{"FAKE_STEPS", "60"}, {"FAKE_STEP_MS", "20"}});
    ClientProcess client(asked);
    observer.id = client.id();
    // A rank that starts now would not find its files.
    ASSERT_TRUE(wait_until([&] { return steps_of(read_events(folder() / "events.jsonl")).size() >= 5; }));
    client.end(SIGKILL);
    const pid_t agent = supervisor();
    hide();
    ASSERT_TRUE(wait_until([&] { return kill(agent, 0) != 0; }));
    bring_back();
    const auto result = attach(observer.id, observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok) << (result->problem ? result->problem->line() : "");
    expect_whole(read_events(result->folder / "events.jsonl"), "ok"); // the first client had stored some of them
}

TEST_F(Reach, AStopWakesAnAgentThatASignalStopped)
{
    at_step(20, [&] {
        kill(parent_of(supervisor()), SIGSTOP); // its guardian
        kill(supervisor(), SIGSTOP);
    });
    when_told("does not answer (a signal stopped it); the ranks go on", [&] { stop.request_stop(); });
    const RunResult result = follow(endless());
    EXPECT_EQ(result.state, RunState::cancelled);
    EXPECT_TRUE(said("it runs again and is ending the ranks"));
    expect_whole(observer.events, "cancelled");
}

TEST_F(Reach, AStopKillsAnAgentThatHangs)
{
    pid_t agent = 0;
    bool traced = false;
    at_step(20, [&] {
        agent = supervisor();
        traced = ptrace(PTRACE_ATTACH, agent, nullptr, nullptr) == 0; // what stops it then, SIGCONT does not wake
        if (!traced)
            stop.request_stop();
    });
    when_told("does not answer", [&] { stop.request_stop(); });
    const auto begin = std::chrono::steady_clock::now();
    const RunResult result = follow(endless({{"FAKE_IGNORE_TERM", "1"}}));
    if (!traced)
        GTEST_SKIP() << "to trace a process that is no child needs root here";
    int status = 0;
    while (waitpid(agent, &status, __WALL) == agent && WIFSTOPPED(status)) { }
    EXPECT_EQ(result.state, RunState::cancelled);
    EXPECT_TRUE(said("it was killed with"));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(120));
    expect_whole(observer.events, "cancelled");
    EXPECT_NE(result.problem->line().find("does not answer"), std::string::npos) << result.problem->line();
}

TEST_F(Reach, AStopOfAnotherProgramEndsAHungAgentsRun)
{
    ClientProcess client(endless());
    observer.id = client.id();
    ASSERT_TRUE(wait_until([&] { return supervisor() > 0; }));
    client.end(SIGKILL);
    kill(supervisor(), SIGSTOP);
    const auto result = stop_run(observer.id, observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::cancelled);
    EXPECT_EQ(processes_of(observer.id), 0);
    expect_whole(read_events(result->folder / "events.jsonl"), "cancelled");
}

TEST_F(Reach, ASessionThatHangsIsLeftForAnother)
{
    RunRequest asked = endless();
    asked.target.link_s = 2;
    at_step(20, [&] {
        const auto from = static_cast<int>(steps_of(observer.events).size());
        for (const pid_t session : sessions())
            kill(session, SIGSTOP);
        observer.each_event = [this, from](const Json& event) {
            if (integer_field(event, "step") > from + 200)
                stop.request_stop();
        };
    });
    const RunResult result = follow(asked);
    EXPECT_EQ(result.state, RunState::cancelled);
    EXPECT_NE(
        std::find(observer.links.begin(), observer.links.end(), "reconnecting this computer"), observer.links.end());
    expect_whole(observer.events, "cancelled");
}

// A client that is killed before it has started anything: its run says so, and nobody waits for it.
TEST_F(Reach, AClientThatDiesBeforeTheStart)
{
    for (const RunState at : {RunState::draft, RunState::preflight, RunState::staging}) {
        ClientProcess client(endless(), [at](Recording& mine) {
            mine.each_state = [at](RunState state, const std::string&) {
                if (state > at)
                    raise(SIGKILL); // the state before is stored
            };
        });
        ASSERT_EQ(client.end(), 128 + SIGKILL);
        for (int twice = 0; twice < 2; ++twice) {
            const auto result = attach(client.id(), observer, {});
            ASSERT_TRUE(result) << result.error().line();
            EXPECT_EQ(result->state, RunState::fail);
            ASSERT_TRUE(result->problem);
            EXPECT_NE(result->problem->line().find("ended before its ranks were started"), std::string::npos)
                << result->problem->line();
        }
        EXPECT_EQ(processes_of(client.id()), 0);
    }
}

TEST_F(Reach, AClientThatDiesWhileTheRanksAreBeingPrepared)
{
    RunRequest asked = endless();
    asked.target.prelude = {"kill -9 $FF_TEST_CLIENT", "exit 1"};
    ClientProcess client(asked, [](Recording&) { setenv("FF_TEST_CLIENT", std::to_string(getpid()).c_str(), 1); });
    ASSERT_EQ(client.end(), 128 + SIGKILL);
    const auto result = attach(client.id(), observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::fail);
    EXPECT_NE(result->problem->line().find("ended before its ranks were started"), std::string::npos)
        << result->problem->line();
}

// Nothing on the node could be told yet: the program that starts the run gives up.
TEST_F(Reach, AStopReachesARunThatIsBeingStarted)
{
    RunRequest asked = endless();
    asked.target.prelude_s = 600;
    asked.target.prelude = {"sleep 500"};
    ClientProcess client(asked);
    observer.id = client.id();
    ASSERT_TRUE(wait_until([&] { return processes_of(client.id()) > 0; }));
    const auto result = stop_run(client.id(), observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::cancelled) << (result->problem ? result->problem->line() : "");
    EXPECT_NE(client.end(), 0);
    EXPECT_TRUE(wait_until([&] { return processes_of(client.id()) == 0; })) << "nobody waits for the prelude any more";
    const auto again = attach(client.id(), observer, {});
    ASSERT_TRUE(again) << again.error().line();
    EXPECT_EQ(again->state, RunState::cancelled);
}

// As a container whose program does nothing and says so to nobody.
TEST_F(Reach, ATrainerThatDoesNothingIsAFailure)
{
    RunRequest asked = endless();
    const auto idle = home.path() / "idle-trainer";
    std::ofstream(idle) << "#!/bin/sh\nexit 0\n";
    chmod(idle.c_str(), 0700);
    asked.trainer = idle;
    const RunResult result = follow(asked);
    EXPECT_EQ(result.state, RunState::fail);
    ASSERT_TRUE(result.problem);
    EXPECT_NE(result.problem->line().find("before it wrote any event"), std::string::npos) << result.problem->line();
    expect_whole(observer.events, "fail");
}

} // namespace
} // namespace fourfold::test
