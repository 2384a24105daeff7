// SPDX-License-Identifier: GPL-3.0-or-later
// Faults thrown at runs on two hosts with a real sshd each, one of each kind, then at random (FOURFOLD_SOAK says how
// many in all). After every one: the stored events are the node's, byte for byte; the end is the expected one; no
// process is left; the history is whole. The table of what happened is printed.
#include "core/history/store.h"
#include "runner/protocol/message.h"
#include "tests/runner/sshd.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <random>
#include <set>
#include <thread>

namespace fourfold::test {
namespace {

using Clock = std::chrono::steady_clock;

struct Fault {
    const char* name;
    std::map<std::string, std::string> environment;
    RunState expected;
    // What is done once the run has made ten steps; nothing for faults of the ranks themselves.
    std::function<void()> strike;
};

struct Tally {
    int count = 0;
    double seconds = 0;
    std::set<std::string> outcomes;
};

class FaultSuite : public testing::Test {
protected:
    void SetUp() override
    {
        if (const std::string why = why_no_sshd(); !why.empty())
            GTEST_SKIP() << why;
        first.start();
        second.start();
        // Keys and files are there before the first fault.
        Recording observer;
        observer.trust = true;
        RunRequest warm = asked({{"FAKE_STEPS", "2"}});
        ASSERT_TRUE(launch(warm, observer, {}));
    }

    RunRequest asked(const std::map<std::string, std::string>& environment)
    {
        RunRequest out = request(home, 4, environment);
        out.target = ssh_target(home, {&first, &second});
        out.target.preflight = false;
        out.target.stall_s = 4;
        out.target.hang_s = 2;
        return out;
    }

    // The client is a process of its own, so that it can be killed and stopped.
    void start_client(const RunRequest& request)
    {
        id.clear();
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        client = fork();
        ASSERT_GE(client, 0);
        if (client == 0) {
            close(ends[0]);
            struct Announcing : Recording {
                int out = -1;
                void on_created(const std::string& run, const std::filesystem::path& where) override
                {
                    Recording::on_created(run, where);
                    (void)!write(out, (run + "\n").c_str(), run.size() + 1);
                }
            } observer;
            observer.out = ends[1];
            (void)launch(request, observer, {});
            _exit(0);
        }
        close(ends[1]);
        char c = 0;
        while (read(ends[0], &c, 1) == 1 && c != '\n')
            id += c;
        close(ends[0]);
    }
    void end_client(int signal)
    {
        if (client <= 0)
            return;
        if (signal != 0)
            kill(client, signal);
        waitpid(client, nullptr, 0);
        client = 0;
    }
    [[nodiscard]] std::filesystem::path node_folder() const { return home.path() / "node/runs" / id; }
    [[nodiscard]] bool has_steps(int count) const
    {
        std::ifstream in(node_folder() / "events.jsonl");
        std::string line;
        int steps = 0;
        while (steps < count && std::getline(in, line))
            steps += line.find("\"step\"") != std::string::npos ? 1 : 0;
        return steps >= count;
    }
    void kill_agent()
    {
        pid_t agent = 0;
        EXPECT_TRUE(wait_until([&] { // that node may be slower than the first
            const auto status = read_json_file(node_folder() / "node1/status.json");
            agent = status ? static_cast<pid_t>(integer_field(*status, "pid")) : 0;
            return agent > 0;
        }));
        if (agent > 0)
            kill(agent, SIGKILL);
    }

    // One run with one fault; says how it ended and checks what must always hold.
    std::string suffer(const Fault& fault)
    {
        auto environment = fault.environment;
        environment.try_emplace("FAKE_STEPS", "60");
        environment.try_emplace("FAKE_STEP_MS", "20");
        start_client(asked(environment));
        EXPECT_FALSE(id.empty()) << fault.name;
        if (fault.strike) {
            EXPECT_TRUE(wait_until([&] { return has_steps(10); }, 60)) << fault.name;
            fault.strike();
        }
        end_client(0);
        Recording later;
        later.trust = true;
        const auto result = attach(id, later, {});
        EXPECT_TRUE(result) << fault.name << ": " << (result ? "" : result.error().line());
        if (!result)
            return "lost";
        EXPECT_EQ(result->state, fault.expected)
            << fault.name << ": " << (result->problem ? result->problem->line() : "");
        EXPECT_TRUE(wait_until([&] { return processes_of(id) == 0; }, 10)) << fault.name << ": processes are left";
        expect_whole(read_events(result->folder / "events.jsonl"), std::string(name(fault.expected)));
        for (const auto& [stored, node, stream] : {std::tuple("events.jsonl", "events.jsonl", "events"),
                 std::tuple("events.node1.jsonl", "node1/events.jsonl", "node1")}) {
            const auto here = read_text_file(result->folder / stored), there = read_text_file(node_folder() / node);
            EXPECT_TRUE(here && there && *here == *there) << fault.name << ": " << stored << " differs from the node's";
            const auto rows = HistoryStore::open(HistoryStore::default_file())->events(id, stream);
            std::string joined;
            for (const std::string& line : rows ? *rows : std::vector<std::string>{})
                joined += line + "\n";
            EXPECT_TRUE(here && joined == *here) << fault.name << ": the history differs from " << stored;
        }
        return std::string(name(result->state));
    }

    std::vector<Fault> faults()
    {
        const auto pause = [](int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); };
        const auto failing = [](const char* how) {
            return std::map<std::string, std::string>{{"FAKE_STEPS", "100000"}, {"FAKE_FAIL_RANK", "3"},
                {"FAKE_FAIL_STEP", "15"}, {"FAKE_HOW", how}, {"FAKE_CHILDREN", "1"}};
        };
        return {{"the link of one host is cut", {}, RunState::ok, [this] { first.cut_connections(); }},
            {"the links of both hosts are cut twice", {}, RunState::ok,
                [this, pause] {
                    for (int i = 0; i < 2; ++i) {
                        first.cut_connections();
                        second.cut_connections();
                        pause(400);
                    }
                }},
            {"the SSH server dies and comes back", {}, RunState::ok,
                [this, pause] {
                    second.stop();
                    pause(1000);
                    second.start();
                }},
            {"the client is killed (kill -9)", {}, RunState::ok, [this] { end_client(SIGKILL); }},
            {"the client sleeps for 2 s", {}, RunState::ok,
                [this, pause] {
                    kill(client, SIGSTOP);
                    pause(2000);
                    kill(client, SIGCONT);
                }},
            {"client killed while its links are cut", {}, RunState::ok,
                [this] {
                    first.cut_connections();
                    second.cut_connections();
                    end_client(SIGKILL);
                }},
            {"an agent is killed (kill -9)", {{"FAKE_STEPS", "100000"}, {"FAKE_CHILDREN", "1"}}, RunState::lost,
                [this] { kill_agent(); }},
            {"a rank has a segmentation fault", failing("segv"), RunState::fail, {}},
            {"a rank is killed", failing("kill"), RunState::fail, {}},
            {"a rank exits", failing("exit37"), RunState::fail, {}},
            {"a rank runs out of memory", failing("oom"), RunState::oom, {}},
            {"a rank hangs",
                {{"FAKE_STEPS", "100"}, {"FAKE_FAIL_RANK", "0"}, {"FAKE_FAIL_STEP", "15"}, {"FAKE_HOW", "hang"}},
                RunState::hang, {}},
            {"hostile output and rubbish as events", {{"FAKE_RUBBISH", "1"}, {"FAKE_PRINT_BYTES", "20000000"}},
                RunState::ok, {}},
            {"a daemon is left behind", {{"FAKE_LEFTOVER", "1"}}, RunState::ok, {}}};
    }

    Home home;
    Sshd first{home, "node1"}, second{home, "node2"};
    pid_t client = 0;
    std::string id;
};

TEST_F(FaultSuite, NothingIsLostDoubledOrLeft)
{
    const auto all = faults();
    const char* asked = std::getenv("FOURFOLD_SOAK");
    const int count = std::max(static_cast<int>(all.size()), asked ? std::atoi(asked) : 0);
    std::mt19937 random(7);
    std::map<std::string, Tally> tallies;
    int before = 0;
    for (int i = 0; i < count && !HasFatalFailure(); ++i) {
        const Fault& fault
            = static_cast<std::size_t>(i) < all.size() ? all[static_cast<std::size_t>(i)] : all[random() % all.size()];
        const auto begin = Clock::now();
        Tally& tally = tallies[fault.name];
        tally.outcomes.insert(suffer(fault));
        ++tally.count;
        tally.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
        before += 1;
    }
    const auto runs = HistoryStore::open(HistoryStore::default_file())->list();
    ASSERT_TRUE(runs);
    EXPECT_EQ(runs->size(), static_cast<std::size_t>(before) + 1) << "every run is in the history";
    std::printf("%-45s %5s  %-10s %s\n", "fault", "times", "ended as", "seconds");
    for (const Fault& fault : all) {
        const Tally& tally = tallies[fault.name];
        std::string outcomes;
        for (const std::string& outcome : tally.outcomes)
            outcomes += (outcomes.empty() ? "" : ", ") + outcome;
        std::printf("%-45s %5d  %-10s %.1f\n", fault.name, tally.count, outcomes.c_str(),
            tally.seconds / std::max(1, tally.count));
    }
}

} // namespace
} // namespace fourfold::test
