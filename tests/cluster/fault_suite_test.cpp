// SPDX-License-Identifier: GPL-3.0-or-later
// Faults thrown at runs on two hosts with a real sshd each; the long label throws 800 at random.
#include "tests/cluster/fault_soak.h"
#include "tests/runner/sshd.h"

#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

namespace fourfold::test {
namespace {

class FaultSuite : public FaultSoak {
protected:
    void SetUp() override
    {
        if (const std::string why = why_no_sshd(); !why.empty())
            GTEST_SKIP() << why;
        // With a disk of their own the nodes can run out of it: for whom may mount one.
        std::filesystem::create_directories(home.path() / "node");
        disk_limited = mount("none", (home.path() / "node").c_str(), "tmpfs", 0, "size=256m,mode=700") == 0;
        first.start();
        second.start();
        // Keys and files are there before the first fault.
        Recording observer;
        observer.trust = true;
        RunRequest warm = asked({{"FAKE_STEPS", "2"}});
        ASSERT_TRUE(launch(warm, observer, {}));
    }
    void TearDown() override
    {
        first.stop();
        second.stop();
        if (disk_limited)
            umount2((home.path() / "node").c_str(), MNT_DETACH);
    }

    RunRequest asked(const std::map<std::string, std::string>& environment) override
    {
        RunRequest out = request(home, kRanks, environment);
        out.target = ssh_target(home, {&first, &second});
        out.target.preflight = false;
        out.target.stall_s = 4;
        out.target.hang_s = 2;
        return out;
    }
    [[nodiscard]] std::filesystem::path node_folder() const override { return home.path() / "node/runs" / id; }
    [[nodiscard]] std::vector<Streams> streams() const override
    {
        return {{"events.jsonl", "events.jsonl", "events"}, {"events.node1.jsonl", "node1/events.jsonl", "node1"}};
    }
    // Of the second host; with `guardian` who watches over it as well, so that nobody is left who could clean up.
    void kill_agent(bool guardian = false)
    {
        const pid_t agent = supervisor("node1");
        if (const pid_t parent = agent > 0 && guardian ? parent_of(agent) : 0; parent > 1)
            kill(parent, SIGKILL);
        if (agent > 0)
            kill(agent, SIGKILL);
    }

    std::vector<Fault> faults()
    {
        const auto pause = [](int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); };
        const auto failing = [](const char* how) {
            return std::map<std::string, std::string>{{"FAKE_STEPS", "100000"}, {"FAKE_FAIL_RANK", "3"},
                {"FAKE_FAIL_STEP", "15"}, {"FAKE_HOW", how}, {"FAKE_CHILDREN", "1"}};
        };
        std::vector<Fault> out{{"the link of one host is cut", {}, RunState::ok, [this] { first.cut_connections(); }},
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
            {"an agent hangs, the run is stopped", {{"FAKE_STEPS", "100000"}, {"FAKE_CHILDREN", "1"}},
                RunState::cancelled,
                [this] {
                    const pid_t agent = supervisor("node1");
                    kill(parent_of(agent), SIGSTOP); // its guardian
                    kill(agent, SIGSTOP);
                    client->signal(SIGTERM);
                }},
            {"an agent hangs for 3 s", {{"FAKE_STEPS", "400"}}, RunState::ok,
                [this, pause] {
                    const pid_t agent = supervisor("node1");
                    kill(agent, SIGSTOP);
                    pause(3000);
                    kill(agent, SIGCONT);
                }},
            {"the connections of one host freeze", {{"FAKE_STEPS", "200"}}, RunState::ok,
                [this] { second.freeze_connections(); }, 2},
            {"the run folder cannot be read for 1 s", {{"FAKE_STEPS", "200"}}, RunState::ok,
                [this, pause] {
                    const std::filesystem::path folder = node_folder(), away = home.path() / "node/away";
                    std::filesystem::rename(folder, away);
                    std::filesystem::create_symlink(folder, folder); // a link to itself, for root too
                    first.cut_connections();
                    second.cut_connections();
                    pause(1000);
                    std::filesystem::remove(folder);
                    std::filesystem::rename(away, folder);
                }},
            {"the run folder is removed, the run is stopped", {{"FAKE_STEPS", "100000"}}, RunState::cancelled,
                [this, pause] {
                    std::error_code error;
                    do // its agents go on writing into it
                        std::filesystem::remove_all(node_folder(), error);
                    while (std::filesystem::exists(node_folder()));
                    pause(500);
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
        if (disk_limited) {
            out.push_back({"the disk of the nodes is full", {{"FAKE_STEPS", "100000"}}, RunState::fail,
                [this] {
                    std::ofstream file(home.path() / "node/ballast", std::ios::binary);
                    const std::string block(1 << 16, 'x');
                    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) { }
                    client->end();
                },
                5, [this] { std::filesystem::remove(home.path() / "node/ballast"); }});
        }
        return out;
    }

    Sshd first{home, "node1"}, second{home, "node2"};
    bool disk_limited = false;
};

TEST_F(FaultSuite, NothingIsLostDoubledOrLeft)
{
    throw_all("# Random faults\nTwo hosts with a real sshd each, two ranks on each; written by\n"
              "`FOURFOLD_SOAK_REPORT=FILE build/release/tests/cluster_soak_test`.\n\n",
        faults(), FOURFOLD_SOAK_COUNT, 1);
}

} // namespace
} // namespace fourfold::test
