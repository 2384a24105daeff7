// SPDX-License-Identifier: GPL-3.0-or-later
// Faults thrown at runs on two hosts with a real sshd each, one of each kind, then at random (the long label throws
// 500; FOURFOLD_SOAK says another number, FOURFOLD_SOAK_SEED another sequence). After every one: the stored events are
// the node's, byte for byte; the end is the expected one; no process is left; the history is whole. The table of what
// happened is printed, and written to the file that FOURFOLD_SOAK_REPORT names.
#include "core/history/store.h"
#include "runner/protocol/message.h"
#include "tests/runner/sshd.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>
#include <random>
#include <set>
#include <sstream>
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
    double link_s = 5; // as in the target
};

struct Tally {
    int count = 0;
    double seconds = 0, longest = 0;
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
    // Of the second host; with `guardian` who watches over it as well, so that nobody is left who could clean up.
    void kill_agent(bool guardian = false)
    {
        pid_t agent = 0;
        EXPECT_TRUE(wait_until([&] { // that node may be slower than the first
            const auto status = read_json_file(node_folder() / "node1/status.json");
            agent = status ? static_cast<pid_t>(integer_field(*status, "pid")) : 0;
            return agent > 0;
        }));
        if (const pid_t parent = agent > 0 && guardian ? parent_of(agent) : 0; parent > 1)
            kill(parent, SIGKILL);
        if (agent > 0)
            kill(agent, SIGKILL);
    }

    // One run with one fault; says how it ended and checks what must always hold.
    std::string suffer(const Fault& fault)
    {
        auto environment = fault.environment;
        environment.try_emplace("FAKE_STEPS", "60");
        environment.try_emplace("FAKE_STEP_MS", "20");
        RunRequest request = asked(environment);
        request.target.link_s = fault.link_s;
        client.emplace(request);
        id = client->id();
        EXPECT_FALSE(id.empty()) << fault.name;
        if (fault.strike) {
            EXPECT_TRUE(wait_until([&] { return has_steps(10); }, 60)) << fault.name;
            fault.strike();
        }
        client->end();
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

    static void write_table(
        const std::vector<Fault>& all, const std::map<std::string, Tally>& tallies, int count, double seconds)
    {
        std::ostringstream out;
        out << count << " faults in " << std::lround(seconds) << " s; of all runs: " << (HasFailure() ? "NOT " : "")
            << "every event once, byte for byte as on the node; no process left; history whole\n\n"
            << "| fault | times | ended as | seconds, mean | longest |\n| --- | --- | --- | --- | --- |\n";
        for (const Fault& fault : all) {
            const Tally& tally = tallies.at(fault.name);
            std::string outcomes;
            for (const std::string& outcome : tally.outcomes)
                outcomes += (outcomes.empty() ? "" : ", ") + outcome;
            char figures[64];
            std::snprintf(
                figures, sizeof figures, "%.1f | %.1f", tally.seconds / std::max(1, tally.count), tally.longest);
            out << "| " << fault.name << " | " << tally.count << " | " << outcomes << " | " << figures << " |\n";
        }
        std::printf("%s", out.str().c_str());
        if (const char* file = std::getenv("FOURFOLD_SOAK_REPORT"))
            std::ofstream(file) << "# Random faults\nTwo hosts with a real sshd each, two ranks on each; written by\n`"
                                   "FOURFOLD_SOAK_REPORT=FILE build/release/tests/cluster_soak_test`.\n\n"
                                << out.str();
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
            {"the client is killed (kill -9)", {}, RunState::ok, [this] { client->end(SIGKILL); }},
            // Its nodes let go of it after 6 s; the run goes on for 8 s.
            {"the client sleeps for 7 s", {{"FAKE_STEPS", "400"}}, RunState::ok,
                [this, pause] {
                    client->signal(SIGSTOP);
                    pause(7000);
                    client->signal(SIGCONT);
                },
                2},
            {"client killed while its links are cut", {}, RunState::ok,
                [this] {
                    first.cut_connections();
                    second.cut_connections();
                    client->end(SIGKILL);
                }},
            {"an agent is killed (kill -9)", {{"FAKE_STEPS", "100000"}, {"FAKE_CHILDREN", "1"}}, RunState::lost,
                [this] { kill_agent(); }},
            {"an agent and its guardian are killed", {{"FAKE_STEPS", "100000"}, {"FAKE_CHILDREN", "1"}}, RunState::lost,
                [this] { kill_agent(true); }},
            {"the run is stopped, ranks deaf to SIGTERM",
                {{"FAKE_STEPS", "100000"}, {"FAKE_CHILDREN", "1"}, {"FAKE_IGNORE_TERM", "1"}}, RunState::cancelled,
                [this] { client->signal(SIGTERM); }},
            {"stopped while both links are cut", {{"FAKE_STEPS", "100000"}}, RunState::cancelled,
                [this] {
                    first.cut_connections();
                    second.cut_connections();
                    client->signal(SIGTERM);
                }},
            {"a rank has a segmentation fault", failing("segv"), RunState::fail, {}},
            {"a rank is killed", failing("kill"), RunState::fail, {}},
            {"a rank exits", failing("exit37"), RunState::fail, {}},
            {"a rank runs out of memory", failing("oom"), RunState::oom, {}},
            {"a rank hangs",
                {{"FAKE_STEPS", "100"}, {"FAKE_FAIL_RANK", "0"}, {"FAKE_FAIL_STEP", "15"}, {"FAKE_HOW", "hang"}},
                RunState::hang, {}},
            {"hostile output and rubbish as events", {{"FAKE_RUBBISH", "1"}, {"FAKE_PRINT_BYTES", "20000000"}},
                RunState::ok, {}},
            {"an event of 900 kB while a link is cut", {{"FAKE_EVENT_BYTES", "900000"}}, RunState::ok,
                [this] { first.cut_connections(); }},
            {"a daemon is left behind", {{"FAKE_LEFTOVER", "1"}}, RunState::ok, {}}};
    }

    Home home;
    Sshd first{home, "node1"}, second{home, "node2"};
    std::optional<ClientProcess> client;
    std::string id;
};

TEST_F(FaultSuite, NothingIsLostDoubledOrLeft)
{
    const auto all = faults();
    const char* asked = std::getenv("FOURFOLD_SOAK");
    const int count = std::max(static_cast<int>(all.size()), asked ? std::atoi(asked) : FOURFOLD_SOAK_COUNT);
    const char* seed = std::getenv("FOURFOLD_SOAK_SEED");
    std::mt19937 random(seed ? static_cast<unsigned>(std::atoi(seed)) : 7);
    const auto start = Clock::now();
    std::map<std::string, Tally> tallies;
    int before = 0;
    for (int i = 0; i < count && !HasFatalFailure(); ++i) {
        const Fault& fault
            = static_cast<std::size_t>(i) < all.size() ? all[static_cast<std::size_t>(i)] : all[random() % all.size()];
        const auto begin = Clock::now();
        Tally& tally = tallies[fault.name];
        tally.outcomes.insert(suffer(fault));
        ++tally.count;
        const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        tally.seconds += seconds;
        tally.longest = std::max(tally.longest, seconds);
        before += 1;
        if (before % 50 == 0)
            std::printf("%d of %d faults, %.0f s\n", before, count,
                std::chrono::duration<double>(Clock::now() - start).count());
    }
    const auto runs = HistoryStore::open(HistoryStore::default_file())->list();
    ASSERT_TRUE(runs);
    EXPECT_EQ(runs->size(), static_cast<std::size_t>(before) + 1) << "every run is in the history";
    const auto whole = HistoryStore::open(HistoryStore::default_file(), StoreMode::read_only);
    EXPECT_TRUE(whole) << "the database fails its check: " << (whole ? "" : whole.error().line());
    write_table(all, tallies, before, std::chrono::duration<double>(Clock::now() - start).count());
}

} // namespace
} // namespace fourfold::test
