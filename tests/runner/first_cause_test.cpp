// SPDX-License-Identifier: GPL-3.0-or-later
// A run that failed tells where the failure began, not who noticed it first: one node and two over SSH, the fake
// trainer, which fails in an order of our choice.
#include "runner/protocol/message.h"
#include "tests/runner/sshd.h"

#include <signal.h>

namespace fourfold::test {
namespace {

using Environment = std::map<std::string, std::string>;

class FirstCause : public testing::Test {
protected:
    // The line of a run on four ranks, of which rank 0 is the one that fails.
    std::string line_of(Environment environment, const std::vector<const Sshd*>& hosts = {})
    {
        environment.insert({{"FAKE_STEPS", "100000"}, {"FAKE_FAIL_RANK", "0"}});
        RunRequest asked = request(home, 4, environment);
        if (!hosts.empty())
            asked.target = ssh_target(home, hosts);
        observer.trust = true;
        const auto result = launch(asked, observer, {});
        if (!result)
            return result.error().line();
        EXPECT_EQ(processes_of(result->id), 0) << "nothing of a run may be left";
        state = result->state;
        return result->problem ? result->problem->line() : "";
    }
    static void expect_says(const std::string& line, const std::string& who, const std::string& what)
    {
        EXPECT_NE(line.find(who), std::string::npos) << line;
        EXPECT_NE(line.find(what), std::string::npos) << line;
    }

    Home home;
    Recording observer;
    RunState state = RunState::draft;
};

TEST_F(FirstCause, ARankThatWasToldLeavesTimeToTheOneThatKnows)
{
    expect_says(line_of({{"FAKE_HOW", "oom"}, {"FAKE_TOLD_RANK", "1"}, {"FAKE_TOLD_MS", "3000"}}),
        "rank 0 (tp 0, cp 0, pp 0, dp 0)", "out of memory in layer 3");
    EXPECT_EQ(state, RunState::oom);
}

TEST_F(FirstCause, ARankThatToldIsNamedBeforeItEnds)
{
    expect_says(line_of({{"FAKE_HOW", "tell-and-hang"}, {"FAKE_TOLD_RANK", "1"}, {"FAKE_TOLD_MS", "0"}}),
        "rank 0 (tp 0, cp 0, pp 0, dp 0)", "No space left on device");
    expect_whole(observer.events, "fail");
    EXPECT_EQ(integer_field(last_event(observer.events, "error"), "rank"), 0);
}

TEST_F(FirstCause, IsKnownThoughNoEventCanBeWritten)
{
    expect_says(line_of({{"FAKE_HOW", "full-disk"}}), "rank 0 (tp 0, cp 0, pp 0, dp 0)",
        "cannot write it: No space left on device");
    expect_whole(observer.events, "fail");
    EXPECT_EQ(text_field(last_event(observer.events, "error"), "message"), "cannot write it: No space left on device");
}

// Who should have told was killed before it could.
TEST_F(FirstCause, WhatARankHeardIsTheLastResort)
{
    const std::string line = line_of({{"FAKE_FAIL_RANK", "-1"}, {"FAKE_FAIL_STEP", "2"}, {"FAKE_STEPS", "200"},
        {"FAKE_TOLD_RANK", "1"}, {"FAKE_TOLD_TEXT", "rank 9: no disk"}});
    expect_says(line, "another rank failed: rank 9: no disk", "");
    expect_whole(observer.events, "fail");
    EXPECT_EQ(text_field(last_event(observer.events, "error"), "origin"), "told");
}

TEST_F(FirstCause, ARankThatMayNotHaveMemoryIsOutOfIt)
{
    expect_says(line_of({{"FAKE_HOW", "bad-alloc"}}), "rank 0 (tp 0, cp 0, pp 0, dp 0)",
        "it may not have the memory that it asked for");
    EXPECT_EQ(state, RunState::oom);
    EXPECT_EQ(text_field(last_event(observer.events, "error"), "kind"), "oom");
    expect_whole(observer.events, "oom");
}

class FirstCauseOverSsh : public FirstCause {
protected:
    void SetUp() override
    {
        if (const std::string why = why_no_sshd(); !why.empty())
            GTEST_SKIP() << why;
        first.start();
        second.start();
    }
    std::string line_of(const Environment& environment) { return FirstCause::line_of(environment, {&first, &second}); }

    Sshd first{home, "node1"}, second{home, "node2"};
};

TEST_F(FirstCauseOverSsh, ANodeThatWasToldLeavesTimeToTheOneThatKnows)
{
    expect_says(line_of({{"FAKE_HOW", "oom"}, {"FAKE_TOLD_RANK", "3"}, {"FAKE_TOLD_MS", "3000"}}),
        "rank 0 (tp 0, cp 0, pp 0, dp 0)", "out of memory in layer 3");
    EXPECT_EQ(state, RunState::oom);
}

TEST_F(FirstCauseOverSsh, ANodeThatMissesARankLeavesTimeToTheOneThatKnows)
{
    expect_says(line_of({{"FAKE_HOW", "kill"}, {"FAKE_LOST_RANK", "3"}, {"FAKE_TOLD_MS", "1000"}}),
        "rank 0 (tp 0, cp 0, pp 0, dp 0)", "SIGKILL");
}

// The node that only heard of it is the first to end; the other one's rank said it but never ended.
TEST_F(FirstCauseOverSsh, TheRankThatKnowsIsNamedThoughAnotherNodeEndsFirst)
{
    expect_says(line_of({{"FAKE_HOW", "tell-and-hang"}, {"FAKE_LOST_RANK", "3"}, {"FAKE_TOLD_MS", "0"}}), "rank 0 on ",
        "cannot write it: No space left on device");
    EXPECT_EQ(state, RunState::fail);
}

} // namespace
} // namespace fourfold::test
