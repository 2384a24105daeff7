// SPDX-License-Identifier: GPL-3.0-or-later
// The agent's event log, its merge of what ranks write, and its view of processes. Linked with the agent's own parts.
#include "runner/agent/files/store.h"
#include "runner/agent/ranks/prelude.h"
#include "runner/agent/ranks/rank_process.h"
#include "runner/agent/run/event_log.h"
#include "runner/agent/run/event_merge.h"
#include "runner/agent/run/event_tail.h"
#include "runner/agent/run/run_folder.h"
#include "runner/agent/supervision/node_causes.h"
#include "runner/agent/system/processes.h"
#include "runner/protocol/message.h"

#include "core/base/sha256.h"

#include <gtest/gtest.h>

#include <atomic>

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <random>

namespace fourfold {
namespace {

class AgentParts : public testing::Test {
protected:
    AgentParts()
    {
        umask(022); // what others may write is not used
        std::string pattern = testing::TempDir() + "agent.XXXXXX";
        folder = std::filesystem::canonical(mkdtemp(pattern.data()));
        spec.run = "RUN";
        spec.host = "host";
        spec.world_size = 2;
        spec.ranks = {{0, 0, {{"tp", 0}}}, {1, 1, {{"tp", 1}}}};
        spec.start_facts = {{"plan_hash", "abc"}};
    }
    ~AgentParts() override
    {
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
    }
    [[nodiscard]] std::vector<Json> events() const
    {
        std::vector<Json> out;
        std::ifstream in(folder / "events.jsonl");
        std::string line;
        while (std::getline(in, line))
            out.push_back(Json::parse(line));
        return out;
    }
    void say(int rank, const std::string& text) const
    {
        std::ofstream(folder / ("rank" + std::to_string(rank) + ".jsonl"), std::ios::app) << text;
    }
    std::filesystem::path folder;
    RunSpec spec;
};

TEST_F(AgentParts, AFileOfARankThatIsCutShortIsSaid)
{
    auto log = EventLog::open(folder / "events.jsonl");
    ASSERT_TRUE(log);
    EventMerge merge(spec, folder, *log);
    const auto step
        = [](int number) { return "{\"event\":\"step\",\"rank\":0,\"step\":" + std::to_string(number) + "}\n"; };
    say(0, step(1) + step(2) + step(3) + "{\"ev");
    merge.poll();
    std::filesystem::resize_file(folder / "rank0.jsonl", 0);
    merge.poll();
    say(0, step(4));
    merge.poll();
    const auto said = events();
    ASSERT_EQ(said.size(), 5u);
    EXPECT_NE(text_field(said[3], "message").find("cut short"), std::string::npos) << said[3].dump();
    EXPECT_EQ(integer_field(said[4], "step"), 4);
}

// A session that looked through gigabytes before it said a word would be taken for one that hangs, and left for another
// that begins anew.
TEST_F(AgentParts, ALongWayThroughTheEventsIsGoneInStretches)
{
    const auto file = folder / "events.jsonl";
    const auto line = [](int64_t seq) { return "{\"seq\":" + std::to_string(seq) + ",\"event\":\"step\"}\n"; };
    const auto read_all = [&](EventTail& tail) {
        std::pair<std::string, int> out; // the lines, and how often nothing came yet
        for (bool more = true; more;) {
            const auto part = tail.next();
            EXPECT_TRUE(part) << part.error().line();
            more = part && part->more;
            out.second += part && part->more && part->lines.empty() && part->skipped == 0;
            out.first += part ? part->lines : "";
        }
        return out;
    };
    const auto opened = [&](off_t offset, int64_t seq) {
        EventTail tail(offset, seq);
        tail.open(*open_file(file, O_RDONLY));
        return tail;
    };
    std::ofstream(file) << line(0);
    std::filesystem::resize_file(file, 100u << 20); // a hole: one line of zeros
    std::ofstream(file, std::ios::app) << "\n" << line(1);
    EventTail over = opened(0, 0);
    const auto [lines, stretches] = read_all(over);
    EXPECT_EQ(lines, line(0) + line(1));
    EXPECT_GE(stretches, 2);
    std::ofstream(file, std::ios::app) << line(2);
    EXPECT_EQ(read_all(over).first, line(2));

    // The client's copy says another place.
    EventTail back = opened(7, 2);
    const auto [rest, looks] = read_all(back);
    EXPECT_EQ(rest, line(2));
    EXPECT_GE(looks, 2);
}

// status.json may be somebody's: only an `end` among the events ends a run, or one that was there when it was written.
TEST_F(AgentParts, AStateIsBelievedOnlyWithTheEventsEnd)
{
    std::filesystem::create_directories(folder / "runs");
    const RunFolder run(folder, "RUN", 0);
    ASSERT_TRUE(run.create());
    ASSERT_TRUE(run.write_spec(spec));
    EXPECT_EQ(*run.verdict(), "prepared");
    std::ofstream(run.file("status.json")) << R"({"state":"ended","status":"ok"})";
    EXPECT_EQ(*run.verdict(), "lost-agent") << "its supervisor is gone, and has not said that it ended";
    std::ofstream(run.file("events.jsonl")) << R"({"seq":0,"event":"end","status":"fail","message":"m","rank":1})"
                                            << "\n"
                                            << R"({"seq":1,"torn)"
                                            << "\n";
    auto look = run.look();
    ASSERT_TRUE(look);
    EXPECT_EQ(look->state, "ended");
    EXPECT_EQ(look->status.status, "fail") << "and not what the state says";
    EXPECT_EQ(look->status.why, "m");
    std::filesystem::remove(run.file("status.json"));
    EXPECT_EQ(*run.verdict(), "ended") << "a state that could not be written";
    // Damaged events, and the state as the supervisor wrote it.
    std::filesystem::remove(run.file("events.jsonl"));
    ASSERT_TRUE(run.write_status({"ended", "oom", "w", own_identity(), {}, 0, 0, 7}));
    look = run.look();
    ASSERT_TRUE(look);
    EXPECT_EQ(look->state, "ended");
    EXPECT_EQ(look->status.status, "oom");
}

// Nobody reads or writes the other end of a pipe; a folder cannot be replaced by a file.
TEST_F(AgentParts, WhatIsNoFileIsSaidAndNotWaitedFor)
{
    const RunFolder run(folder, "RUN", 0);
    std::filesystem::create_directories(run.path());
    ASSERT_TRUE(run.write_spec(spec));
    for (const char* name : {"events.jsonl", "status.json", "stop.json"})
        ASSERT_EQ(mkfifo(run.file(name).c_str(), 0600), 0);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        const auto log = EventLog::open(run.file("events.jsonl"));
        const bool said = !log && log.error().message == "is a pipe, expected a file" && run.look() && run.read_stop()
            && slurp(run.file("stop.json")).empty() && !open_file(run.file("status.json"), O_WRONLY);
        _exit(said ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    // The events of a file that has no name any more take their place back.
    auto log = EventLog::open(folder / "other");
    ASSERT_TRUE(log);
    log->append(0, EndEvent{.status = "ok"});
    ASSERT_TRUE(log->copy_to(run.file("events.jsonl")));
    EXPECT_EQ(*run.verdict(), "ended");
    std::filesystem::remove(run.file("status.json"));
    std::filesystem::create_directory(run.file("status.json"));
    EXPECT_FALSE(run.write_status({"running", {}, {}, own_identity(), {}, 0}));
    EXPECT_EQ(*run.verdict(), "ended");
}

TEST_F(AgentParts, LogCutsATornLineAndGoesOn)
{
    {
        auto log = EventLog::open(folder / "events.jsonl");
        ASSERT_TRUE(log);
        log->append_object("{\"rank\":0,\"event\":\"step\"}");
        log->append_object("{}");
        log->append(1, WarningEvent{.message = "m"});
    }
    std::ofstream(folder / "events.jsonl", std::ios::app) << "{\"seq\":3,\"rank\":0,\"eve";
    auto log = EventLog::open(folder / "events.jsonl");
    ASSERT_TRUE(log);
    EXPECT_EQ(log->next_seq(), 3);
    EXPECT_EQ(log->merged_lines().at(0), 1) << "the agent's own lines do not count";
    EXPECT_FALSE(log->merged_lines().contains(1));
    log->append(0, EndEvent{.status = "ok"});
    const auto all = events();
    ASSERT_EQ(all.size(), 4u);
    for (std::size_t i = 0; i < all.size(); ++i)
        EXPECT_EQ(integer_field(all[i], "seq", -1), static_cast<int64_t>(i));
    EXPECT_EQ(text_field(EventLog::open(folder / "events.jsonl")->end(), "event"), "end");
}

// Lines that come together are written together; what an agent did not write before its death it takes from the rank's
// file once more.
TEST_F(AgentParts, LogWritesWhatCameTogetherAndTheAgentsWordsAtOnce)
{
    auto log = EventLog::open(folder / "events.jsonl");
    ASSERT_TRUE(log);
    log->append_object("{\"rank\":0,\"event\":\"step\"}");
    EXPECT_TRUE(events().empty());
    EXPECT_TRUE(log->flush());
    EXPECT_EQ(events().size(), 1u);
    log->append_object("{\"rank\":0,\"event\":\"step\"}");
    log->append(1, WarningEvent{.message = "m"});
    ASSERT_EQ(events().size(), 3u);
    EXPECT_EQ(text_field(events()[2], "event"), "warning") << "in the order in which they came";
    const std::string large = "{\"rank\":0,\"x\":\"" + std::string(1u << 19, 'x') + "\"}";
    log->append_object(large);
    EXPECT_EQ(events().size(), 4u) << "the memory is bounded";
}

TEST_F(AgentParts, MergeTakesWholeLinesOnceAlsoAfterARestart)
{
    say(0, "{\"rank\":0,\"event\":\"start\"}\n{\"rank\":0,\"event\":\"step\",\"loss\":1.2500}\n{\"rank\":0,\"ev");
    say(1, "{\"rank\":1,\"event\":\"warning\",\"message\":\"w\"}\n");
    {
        auto log = EventLog::open(folder / "events.jsonl");
        EventMerge merge(spec, folder, *log);
        EXPECT_TRUE(merge.poll());
        EXPECT_FALSE(merge.poll());
    }
    say(0, "ent\":\"step\",\"loss\":1}\n");
    auto log = EventLog::open(folder / "events.jsonl");
    EventMerge merge(spec, folder, *log);
    merge.poll();
    const auto all = events();
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(text_field(all[0], "plan_hash"), "abc");
    EXPECT_EQ(text_field(all[3], "event"), "step");
    const auto text = read_text_file(folder / "events.jsonl");
    EXPECT_NE(text->find("{\"seq\":1,\"rank\":0,\"event\":\"step\",\"loss\":1.2500}\n"), std::string::npos)
        << "a rank's line goes on byte for byte";
}

TEST_F(AgentParts, ErrorsGetHostAndCoordinatesAndOnlyTheAgentEnds)
{
    std::ofstream(folder / "rank1.log") << "line 1\nTraceback\n";
    say(1, "{\"rank\":1,\"event\":\"error\",\"kind\":\"oom\",\"message\":\"boom\"}\n{\"rank\":1,\"event\":\"end\"}\n");
    auto log = EventLog::open(folder / "events.jsonl");
    EventMerge merge(spec, folder, *log);
    merge.poll();
    const auto all = events();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(text_field(all[0], "host"), "host");
    EXPECT_EQ(integer_field(all[0]["coordinates"], "tp"), 1);
    EXPECT_EQ(all[0]["log"].back(), "Traceback");
    EXPECT_EQ(text_field(all[1], "event"), "rank_end");
    ASSERT_TRUE(merge.error_of(1));
    EXPECT_EQ(merge.error_of(1)->kind, "oom");
    EXPECT_FALSE(merge.error_of(0));
}

TEST_F(AgentParts, FuzzedRankLinesKeepTheStreamWhole)
{
    std::mt19937 random(17);
    auto log = EventLog::open(folder / "events.jsonl");
    EventMerge merge(spec, folder, *log);
    const std::string good
        = "{\"time\":\"t\",\"rank\":0,\"event\":\"step\",\"loss\":1.5,\"list\":[1,2],\"s\":\"\\u00e9\"}\n";
    int whole = 0;
    for (int round = 0; round < 2000; ++round) {
        std::string line = good;
        if (random() % 3) {
            for (unsigned flips = 1 + random() % 4; flips > 0; --flips) {
                const std::size_t at = random() % (line.size() - 1);
                line[at] = random() % 2 ? static_cast<char>(random()) : "{}[]\",:\\"[random() % 8];
            }
        } else {
            ++whole;
        }
        say(static_cast<int>(random() % 2), line);
        if (random() % 10 == 0)
            merge.poll();
    }
    while (merge.poll()) { }
    const auto all = events(); // throws on a line that is no JSON
    int steps = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        ASSERT_EQ(integer_field(all[i], "seq", -1), static_cast<int64_t>(i));
        ASSERT_NE(text_field(all[i], "event"), "end");
        steps += text_field(all[i], "event") == "step";
    }
    EXPECT_GE(steps, whole * 9 / 10) << "only a flipped newline may swallow a good line";
}

TEST_F(AgentParts, ProcessesAreKnownByMoreThanTheirNumber)
{
    const ProcessIdentity self = own_identity();
    EXPECT_TRUE(is_alive(self));
    EXPECT_FALSE(is_alive({self.pid, self.start_time + 1, self.boot_id}));
    EXPECT_FALSE(is_alive({self.pid, self.start_time, "another boot"}));
    const pid_t child = fork();
    if (child == 0) {
        for (;;)
            pause();
    }
    const ProcessIdentity process{child, start_time(child), boot_id()};
    EXPECT_FALSE(send_signal({child, process.start_time + 5, process.boot_id}, SIGKILL));
    EXPECT_TRUE(is_alive(process));
    EXPECT_EQ(descendants(getpid()), std::vector<pid_t>{child});
    EXPECT_TRUE(send_signal(process, SIGKILL));
    waitpid(child, nullptr, 0);
    EXPECT_FALSE(is_alive(process));
    EXPECT_FALSE(send_signal(process, SIGKILL));
}

TEST_F(AgentParts, SweepFindsOnlyTheRunAndTheNode)
{
    const auto start = [](const char* run, const char* node) {
        const pid_t pid = fork();
        if (pid == 0) {
            setsid();
            setenv("FOURFOLD_RUN", run, 1);
            setenv("FOURFOLD_NODE", node, 1);
            execlp("sleep", "sleep", "600", nullptr);
            _exit(127);
        }
        return pid;
    };
    const std::string run = "SWEEP" + std::to_string(getpid());
    const pid_t mine = start(run.c_str(), "0"), other_node = start(run.c_str(), "1"),
                longer = start((run + "9").c_str(), "0");
    for (int i = 0; i < 500 && count_of_run(run, 0) + count_of_run(run, 1) + count_of_run(run + "9", 0) < 3; ++i)
        usleep(10000);
    EXPECT_EQ(sweep(run, 0, 0.0), 1);
    int status = 0;
    EXPECT_EQ(waitpid(mine, &status, 0), mine);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(count_of_run(run, 1), 1);
    EXPECT_EQ(count_of_run(run + "9", 0), 1);
    for (const pid_t pid : {other_node, longer}) {
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, 0);
    }
}

// A finished file loses the right to be written before it has its name. Root may write nevertheless, so the sessions
// are nobody's.
TEST_F(AgentParts, AFileOnItsWayToItsNameIsNotWrittenByAnother)
{
    const std::string content(1000, 'c');
    const std::string hash = sha256_hex(content);
    const auto part = folder / "store" / (hash + ".part");
    const auto as_nobody = [&](const std::function<bool()>& good) {
        const pid_t child = fork();
        if (child == 0)
            _exit((geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0)) && good() ? 0 : 1);
        int status = -1;
        waitpid(child, &status, 0);
        return status;
    };
    if (geteuid() == 0) {
        ASSERT_EQ(chown(folder.c_str(), 65534, 65534), 0);
    }
    ASSERT_EQ(as_nobody([&] {
        Store store(folder);
        std::ofstream(part) << content.substr(0, 400);
        return chmod(part.c_str(), 0500) == 0;
    }),
        0);
    {
        const FileDescriptor finishing(open(part.c_str(), O_RDONLY | O_CLOEXEC));
        ASSERT_EQ(flock(finishing.get(), LOCK_EX), 0);
        EXPECT_EQ(as_nobody([&] {
            const auto busy = Store(folder).begin(hash, content.size());
            return busy && !*busy;
        }),
            0)
            << "another session is at it";
    }
    EXPECT_EQ(as_nobody([&] {
        Store store(folder);
        auto incoming = store.begin(hash, content.size());
        return incoming && *incoming && (*incoming)->offset() == 400
            && (*incoming)->append(std::string_view(content).substr(400)) && store.finish(std::move(**incoming));
    }),
        0)
        << "who was at it has died";
}

TEST_F(AgentParts, StoreContinuesAPrefixAndRefusesAWrongContent)
{
    Store store(folder);
    const std::string content(300000, 'c');
    const std::string hash = sha256_hex(content);
    {
        auto incoming = store.begin(hash, content.size());
        ASSERT_TRUE(incoming && *incoming);
        EXPECT_TRUE((*incoming)->append(std::string_view(content).substr(0, 100000)));
        const auto second = store.begin(hash, content.size());
        ASSERT_TRUE(second);
        EXPECT_FALSE(*second) << "another session is writing it";
    }
    auto incoming = store.begin(hash, content.size());
    ASSERT_TRUE(incoming && *incoming);
    EXPECT_EQ((*incoming)->offset(), 100000u);
    EXPECT_FALSE((*incoming)->append(content)) << "more than the file has";
    EXPECT_TRUE((*incoming)->append(std::string_view(content).substr(100000)));
    ASSERT_TRUE(store.finish(std::move(**incoming)));
    const auto place = store.find(hash, content.size(), {});
    ASSERT_TRUE(place);
    EXPECT_TRUE(store.verify(*place, hash));

    const std::string other = sha256_hex("other");
    auto wrong = store.begin(other, 5);
    ASSERT_TRUE(wrong && *wrong);
    EXPECT_TRUE((*wrong)->append("wrong"));
    EXPECT_FALSE(store.finish(std::move(**wrong)));
    EXPECT_FALSE(store.find(other, 5, {}));
    EXPECT_FALSE(std::filesystem::exists(folder / "store" / (other + ".part"))) << "it would be continued for ever";
    std::ofstream(folder / "elsewhere") << "other";
    EXPECT_EQ(store.find(other, 5, {"relative", "/no/such", (folder / "elsewhere").string()}), folder / "elsewhere");
}

TEST_F(AgentParts, BaseFoldersOfOthersAreRefused)
{
    EXPECT_FALSE(checked_base("relative"));
    const auto good = checked_base((folder / "a/b").string());
    ASSERT_TRUE(good);
    struct stat info { };
    stat(good->c_str(), &info);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
    chmod(good->c_str(), 0777);
    const auto open = checked_base(good->string());
    ASSERT_FALSE(open);
    EXPECT_EQ(open.error().code, ProblemCode::refused);
    std::ofstream(folder / "file") << "x";
    EXPECT_FALSE(checked_base((folder / "file").string()));
}

// sshd gives the agent a socket, and closes but its own half where the client's channel ends.
TEST_F(AgentParts, APreludeThatNobodyWaitsForIsGivenUp)
{
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    const FileDescriptor client(ends[0]), session(ends[1]);
    spec.prelude = {"sleep 20"};
    spec.limits.prelude_s = 60;
    ::shutdown(client.get(), SHUT_WR);
    const auto begin = std::chrono::steady_clock::now();
    const auto prelude = run_prelude(spec, folder, session.get());
    EXPECT_FALSE(prelude);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

// `ulimit -t` of the session in which the run was started: the kernel kills without another word.
TEST_F(AgentParts, ALimitOfTheProcessorsTimeIsNamed)
{
    const pid_t node = fork(); // whose limits a rank has
    if (node == 0) {
        const rlimit second{1, 1};
        setrlimit(RLIMIT_CPU, &second);
        const NodeCauses causes(folder);
        const pid_t rank = fork();
        if (rank == 0)
            for (std::atomic<int> work = 0;; ++work) { }
        Culprit culprit;
        culprit.evidence = Evidence::signal;
        waitpid(rank, &culprit.wait_status, 0);
        causes.explain(culprit, folder / "rank0.log");
        _exit(culprit.message.find("(ulimit -t)") != std::string::npos ? 0 : 1);
    }
    int status = 0;
    waitpid(node, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(DescribeExit, ASignalFromOutsideIsNamed)
{
    EXPECT_EQ(describe_exit(2 << 8), "ended with exit status 2");
    EXPECT_EQ(describe_exit(SIGKILL), "killed by SIGKILL (Killed)");
    EXPECT_EQ(describe_exit((128 + SIGTERM) << 8),
        "ended with exit status 143: a SIGTERM that did not come from this run asked it to end");
}

} // namespace
} // namespace fourfold
