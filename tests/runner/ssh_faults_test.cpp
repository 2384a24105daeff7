// SPDX-License-Identifier: GPL-3.0-or-later
// What goes wrong around a run on one real sshd: its limits, the client's own disk, clients on several computers.
#include "core/history/store.h"
#include "runner/protocol/message.h"
#include "runner/runs/adopt.h"
#include "tests/runner/sshd.h"

#include <arpa/inet.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace fourfold::test {
namespace {

class SshFaults : public testing::Test {
protected:
    void SetUp() override
    {
        if (const std::string why = why_no_sshd(); !why.empty())
            GTEST_SKIP() << why;
        observer.trust = true;
    }
    RunRequest asked(const Sshd& host, const std::map<std::string, std::string>& environment)
    {
        RunRequest out = request(home, 2, environment);
        out.target = ssh_target(home, {&host});
        return out;
    }
    [[nodiscard]] std::string node_events(const std::string& id) const
    {
        const auto text = read_text_file(home.path() / "node/runs" / id / "events.jsonl", 1u << 30);
        return text ? *text : "(none)";
    }

    // Lines with `text` in the log of the server "host".
    [[nodiscard]] int in_server_log(const std::string& text) const
    {
        std::ifstream in(home.path() / "host/sshd.log");
        int count = 0;
        for (std::string line; std::getline(in, line);)
            count += line.find(text) != std::string::npos ? 1 : 0;
        return count;
    }

    // Processes of the agent on the node: sessions, and who watches over ranks.
    [[nodiscard]] int agents() const
    {
        int count = 0;
        for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
            std::error_code gone;
            const auto program = std::filesystem::read_symlink(entry.path() / "exe", gone);
            count += program.string().starts_with((home.path() / "node/agent").string()) ? 1 : 0;
        }
        return count;
    }

    Home home;
    Recording observer;
};

// MaxStartups: a login that hangs takes the only place; ours waits for it.
TEST_F(SshFaults, AServerWithTooManyLoginsIsTriedAgain)
{
    Sshd host(home, "host", {"127.0.0.1", 0, {}, {}, "MaxStartups 1:100:1\nMaxSessions 1\n"});
    host.start();
    ASSERT_TRUE(launch(asked(host, {{"FAKE_STEPS", "1"}}), observer, {})) << "keys and files are there now";
    const int other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(host.port()));
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    ASSERT_EQ(connect(other, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    char banner[64];
    ASSERT_GT(recv(other, banner, sizeof banner, 0), 0);
    std::jthread leaves([other] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1200));
        close(other);
    });
    const auto begin = std::chrono::steady_clock::now();
    const auto result = launch(asked(host, {{"FAKE_STEPS", "3"}}), observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok);
    EXPECT_GT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(900)) << "it was turned away first";
}

TEST_F(SshFaults, AServerThatAllowsNoSession)
{
    Sshd host(home, "host", {"127.0.0.1", 0, {}, {}, "MaxSessions 0\n"});
    host.start();
    const auto result = launch(asked(host, {}), observer, {});
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().line().find("MaxSessions"), std::string::npos) << result.error().line();
}

// What ends before the first word of ours is the host's: its words are shown, and what to look at.
TEST_F(SshFaults, AServerThatRunsSomethingElse)
{
    for (const auto& [command, said] : {std::pair("/usr/sbin/nologin", "This account is currently not available"),
             std::pair("/bin/false", "the remote command ended")}) {
        Sshd host(home, std::string("host") + command[1],
            {"127.0.0.1", 0, {}, {}, std::string("ForceCommand ") + command + "\n"});
        host.start();
        const auto result = launch(asked(host, {}), observer, {});
        ASSERT_FALSE(result);
        const std::string line = result.error().line();
        EXPECT_NE(line.find(said), std::string::npos) << line;
        EXPECT_NE(line.find("ForceCommand"), std::string::npos) << line;
    }
}

// It will be so the next time as well.
TEST_F(SshFaults, AServerWithoutAnAlgorithmInCommonIsTriedOnce)
{
    Sshd host(home, "host", {"127.0.0.1", 0, {}, {}, "Ciphers aes128-ctr\n"});
    host.start();
    const auto result = launch(asked(host, {}), observer, {});
    ASSERT_FALSE(result);
    const std::string line = result.error().line();
    EXPECT_NE(line.find("no algorithm in common"), std::string::npos) << line;
    EXPECT_NE(line.find("aes128-ctr"), std::string::npos) << line;
    EXPECT_EQ(line.find("tried"), std::string::npos) << line;
}

TEST_F(SshFaults, WhatIsNoServerOfSshIsTriedOnce)
{
    const Sshd host(home, "host"); // for its keys: it is not started
    for (const std::string& banner : {std::string("SSH-1.5-old\r\n"), "SSH-2.0-" + std::string(100'000, 'x')}) {
        const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in at{};
        at.sin_family = AF_INET;
        inet_pton(AF_INET, "127.0.0.1", &at.sin_addr);
        ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
        ASSERT_EQ(listen(listener, 4), 0);
        socklen_t size = sizeof at;
        getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size);
        std::jthread server([&] {
            for (int fd = accept(listener, nullptr, nullptr); fd >= 0; fd = accept(listener, nullptr, nullptr)) {
                (void)send(fd, banner.data(), banner.size(), MSG_NOSIGNAL);
                char rest[4096]; // until the other end has read it, and goes
                while (recv(fd, rest, sizeof rest, 0) > 0) { }
                close(fd);
            }
        });
        RunRequest run = asked(host, {});
        run.target.hosts[0].port = ntohs(at.sin_port);
        const auto result = launch(run, observer, {});
        shutdown(listener, SHUT_RDWR);
        server.join();
        close(listener);
        ASSERT_FALSE(result);
        const std::string line = result.error().line();
        EXPECT_NE(line.find("no SSH server of today"), std::string::npos) << line;
        EXPECT_EQ(line.find("tried"), std::string::npos) << line;
    }
}

TEST_F(SshFaults, APipeInThePlaceOfAFileOfSshIsNotWaitedFor)
{
    Sshd host(home, "host");
    host.start();
    std::filesystem::create_directories(home.path() / ".ssh");
    std::filesystem::create_directories(home.path() / "config/fourfold");
    for (const char* name : {".ssh/config", ".ssh/known_hosts", "config/fourfold/known_hosts"}) {
        const auto file = home.path() / name;
        std::filesystem::remove(file);
        ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
        const auto result = launch(asked(host, {}), observer, {});
        ASSERT_FALSE(result) << name;
        EXPECT_NE(result.error().line().find(file.string() + ": is a pipe, expected a file"), std::string::npos)
            << result.error().line();
        std::filesystem::remove(file);
    }
}

// As often as it is included it would be read again, 16 levels deep.
TEST_F(SshFaults, AConfigurationThatIncludesItselfIsRefused)
{
    Sshd host(home, "host");
    host.start();
    const auto ssh = home.path() / ".ssh";
    std::filesystem::create_directories(ssh / "d");
    std::ofstream(ssh / "config") << "Include d/*\nHost other\n  Port 22\n";
    for (const char* name : {"d/a", "d/b", "d/c", "d/d"})
        std::ofstream(ssh / name) << "Host *\n";
    EXPECT_TRUE(launch(asked(host, {{"FAKE_STEPS", "1"}}), observer, {}));
    for (const char* name : {"d/a", "d/b", "d/c", "d/d"})
        std::ofstream(ssh / name) << "Include config\n";
    const auto result = launch(asked(host, {}), observer, {});
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().line().find("config includes itself"), std::string::npos) << result.error().line();
}

// The line breaks while the agent is sent: nothing of how that is done is told.
TEST_F(SshFaults, ALinkCutWhileTheAgentIsSentIsSaidPlainly)
{
    struct Cutting : Recording {
        Sshd* host = nullptr;
        void on_staging(double fraction, const std::string& what) override
        {
            Recording::on_staging(fraction, what);
            if (what.find("fourfold-agent") != std::string::npos)
                host->cut_connections();
        }
    } mine;
    Sshd host(home, "host");
    host.start();
    mine.host = &host;
    mine.trust = true;
    const auto result = launch(asked(host, {}), mine, {});
    ASSERT_FALSE(result);
    const std::string line = result.error().line();
    EXPECT_EQ(line.find("FOURFOLD"), std::string::npos) << line;
    EXPECT_EQ(line.find("the host says"), std::string::npos) << line;
}

// Links that are cut at any moment around the start: either nothing was started and nothing is left, or the run goes on
// and every event of it is stored.
TEST_F(SshFaults, ALinkCutBeforeTheStartIsAcknowledged)
{
    Sshd first_host(home, "first"), second_host(home, "second");
    first_host.start();
    second_host.start();
    const auto both = [&](const std::map<std::string, std::string>& environment) {
        RunRequest out = request(home, 4, environment);
        out.target = ssh_target(home, {&first_host, &second_host});
        out.target.preflight = false;
        return out;
    };
    ASSERT_TRUE(launch(both({{"FAKE_STEPS", "1"}}), observer, {}));
    int ran = 0, refused = 0;
    for (const int wait_ms : {0, 40, 120}) {
        struct Cutting : Recording {
            std::function<void()> strike;
            std::jthread striker;
            void on_state(RunState state, const std::string& what) override
            {
                Recording::on_state(state, what);
                if (state == RunState::launching && !striker.joinable())
                    striker = std::jthread(strike);
            }
        } mine;
        mine.trust = true;
        mine.strike = [&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
            first_host.cut_connections();
            second_host.cut_connections();
        };
        const auto result = launch(both({{"FAKE_STEPS", "30"}, {"FAKE_STEP_MS", "10"}}), mine, {});
        (result && result->state == RunState::ok ? ran : refused) += 1;
        EXPECT_TRUE(wait_until([&] { return processes_of(mine.id) == 0; }, 10)) << wait_ms << " ms: processes are left";
        if (!result)
            continue;
        EXPECT_TRUE(result->state == RunState::ok || result->state == RunState::lost
            || result->state == RunState::cancelled || result->state == RunState::fail)
            << wait_ms << " ms: " << name(result->state);
        const auto stored = read_text_file(result->folder / "events.jsonl");
        ASSERT_TRUE(stored);
        EXPECT_TRUE(*stored == node_events(result->id)) << wait_ms;
    }
    std::printf("%d runs went on, %d were not started\n", ran, refused);
}

TEST_F(SshFaults, ABaseFolderThatRunsNoPrograms)
{
    if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        GTEST_SKIP() << "a disk of one's own needs root and a mount namespace";
    const auto base = home.path() / "node";
    std::filesystem::create_directories(base);
    Sshd host(home, "host");
    for (const auto& [flags, part] :
        {std::pair(MS_NOEXEC, "cannot be executed on the host"), std::pair(MS_RDONLY, "cannot be made on the host")}) {
        if (mount("other", base.c_str(), "tmpfs", static_cast<unsigned long>(flags), "size=64m") != 0)
            GTEST_SKIP() << "needs the right to mount a tmpfs";
        host.start();
        const auto result = launch(asked(host, {{"FAKE_STEPS", "1"}}), observer, {});
        ASSERT_FALSE(result);
        EXPECT_NE(result.error().line().find(part), std::string::npos) << result.error().line();
        EXPECT_FALSE(result.error().hint.empty());
        host.stop();
        umount2(base.c_str(), MNT_DETACH);
    }
}

// The history's disk fills up while the run goes on: the client lets go of it, and catches up when there is room.
TEST_F(SshFaults, AFullDiskOfTheClientLosesNothing)
{
    if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        GTEST_SKIP() << "a small disk needs root and a mount namespace";
    const auto data = home.path() / "data";
    std::filesystem::create_directories(data);
    if (mount("small", data.c_str(), "tmpfs", 0, "size=1200k") != 0)
        GTEST_SKIP() << "needs the right to mount a tmpfs";
    Sshd host(home, "host");
    host.start();
    const auto result = launch(asked(host, {{"FAKE_STEPS", "4000"}, {"FAKE_STEP_MS", "0"}}), observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::running);
    ASSERT_TRUE(result->problem);
    EXPECT_NE(result->problem->line().find("attach"), std::string::npos) << result->problem->line();
    ASSERT_EQ(mount("small", data.c_str(), "tmpfs", MS_REMOUNT, "size=200m"), 0);
    Recording later;
    later.trust = true;
    const auto caught_up = attach(result->id, later, {});
    ASSERT_TRUE(caught_up) << caught_up.error().line();
    EXPECT_EQ(caught_up->state, RunState::ok);
    const auto stored = read_text_file(caught_up->folder / "events.jsonl", 1u << 30);
    ASSERT_TRUE(stored);
    EXPECT_TRUE(*stored == node_events(result->id));
    const auto rows = HistoryStore::open(HistoryStore::default_file())->events(result->id);
    ASSERT_TRUE(rows);
    EXPECT_EQ(rows->size(), read_events(caught_up->folder / "events.jsonl").size());
    EXPECT_EQ(processes_of(result->id), 0);
    umount2(data.c_str(), MNT_DETACH);
}

// A laptop that sleeps longer than its node waits for a sign of life: the node lets go of it, the run goes on, and when
// the laptop wakes up it makes a new connection and has every event once.
TEST_F(SshFaults, AClientThatSleepsUntilItsNodeLetsGoOfIt)
{
    Sshd host(home, "host");
    host.start();
    ASSERT_TRUE(launch(asked(host, {{"FAKE_STEPS", "1"}}), observer, {})) << "keys and files are there now";
    RunRequest sleepy = asked(host, {{"FAKE_STEPS", "600"}, {"FAKE_STEP_MS", "20"}});
    sleepy.target.link_s = 2;
    ClientProcess client(sleepy, [](Recording& mine) { mine.trust = true; });
    const std::string& id = client.id();
    ASSERT_TRUE(wait_until([&] { return node_events(id).find("\"step\":20,") != std::string::npos; }));
    const int connections = in_server_log("Accepted publickey"), before = agents();
    client.signal(SIGSTOP);
    EXPECT_TRUE(wait_until([&] { return agents() == before - 1; }, 20)) << "the session still waits: " << before;
    EXPECT_EQ(processes_of(id), 2) << "the ranks go on";
    client.signal(SIGCONT);
    EXPECT_EQ(client.end(), 0);
    EXPECT_EQ(in_server_log("Accepted publickey"), connections + 1);
    const auto stored = read_text_file(home.path() / "data/fourfold/runs" / id / "events.jsonl", 1u << 30);
    ASSERT_TRUE(stored);
    EXPECT_EQ(*stored, node_events(id));
    const auto events = read_events(home.path() / "data/fourfold/runs" / id / "events.jsonl");
    expect_whole(events, "ok");
    EXPECT_EQ(steps_of(events).size(), 600u);
    EXPECT_EQ(processes_of(id), 0);
}

// The same with a lease: the run ends while the client sleeps, and the client learns of it when it wakes up.
TEST_F(SshFaults, AClientThatSleepsLongerThanItsLease)
{
    Sshd host(home, "host");
    host.start();
    RunRequest sleepy = asked(host, {{"FAKE_STEPS", "100000"}, {"FAKE_STEP_MS", "20"}});
    sleepy.target.link_s = 2;
    sleepy.target.lease_s = 3;
    ClientProcess client(sleepy, [](Recording& mine) { mine.trust = true; });
    const std::string& id = client.id();
    ASSERT_TRUE(wait_until([&] { return node_events(id).find("\"step\":20,") != std::string::npos; }));
    client.signal(SIGSTOP);
    EXPECT_TRUE(wait_until([&] { return processes_of(id) == 0; }, 20)) << "the lease is over";
    client.signal(SIGCONT);
    EXPECT_EQ(client.end(), 1);
    const auto detail = HistoryStore::open(HistoryStore::default_file())->show(id);
    ASSERT_TRUE(detail) << detail.error().line();
    EXPECT_EQ(detail->summary.state, RunState::cancelled);
    EXPECT_NE(detail->summary.problem.find("nobody has followed the run"), std::string::npos)
        << detail->summary.problem;
    expect_whole(read_events(home.path() / "data/fourfold/runs" / id / "events.jsonl"), "cancelled");
}

// The host shows another key when the connection is made anew: nothing is sent to it any more, and that is said and an
// end; the run goes on there, and is followed again by who trusts the key.
TEST_F(SshFaults, AHostKeyThatChangesWhileARunIsFollowed)
{
    Sshd host(home, "host");
    host.start();
    std::stop_source stop;
    const std::jthread watchdog([&stop](const std::stop_token& over) {
        for (int i = 0; i < 600 && !over.stop_requested(); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        stop.request_stop();
    });
    const std::string before = host.fingerprint();
    observer.each_event = [&](const Json& event) {
        if (integer_field(event, "step") == 20) {
            host.make_host_key();
            host.stop();
            host.start();
        }
    };
    const auto result
        = launch(asked(host, {{"FAKE_STEPS", "400"}, {"FAKE_STEP_MS", "20"}}), observer, stop.get_token());
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::running);
    ASSERT_TRUE(result->problem);
    const std::string line = result->problem->line();
    for (const std::string& text : {std::string("the host key has changed"), before, host.fingerprint(),
             std::string("the run goes on, and `fourfold attach` catches up with it")})
        EXPECT_NE(line.find(text), std::string::npos) << line;
    EXPECT_EQ(processes_of(result->id), 2) << "the ranks go on";
    const auto refused = attach(result->id, observer, stop.get_token());
    ASSERT_TRUE(refused) << refused.error().line();
    EXPECT_EQ(refused->state, RunState::running);
    EXPECT_EQ(observer.questions.size(), 1u) << "a changed key is never asked about";
    ASSERT_TRUE(std::filesystem::remove(home.path() / "config/fourfold/known_hosts"));
    observer.each_event = {};
    const auto trusted = attach(result->id, observer, stop.get_token());
    ASSERT_TRUE(trusted) << trusted.error().line();
    EXPECT_EQ(trusted->state, RunState::ok) << (trusted->problem ? trusted->problem->line() : "");
    expect_whole(read_events(trusted->folder / "events.jsonl"), "ok");
    EXPECT_FALSE(stop.stop_requested()) << "it took a minute";
}

// A host that refuses logins for a moment, as while it starts.
TEST_F(SshFaults, AHostThatRefusesForAMomentIsTriedAgain)
{
    Sshd host(home, "host");
    host.start();
    const auto keys = home.path() / "host/authorized_keys";
    std::jthread forgives;
    observer.each_event = [&](const Json& event) {
        if (integer_field(event, "step") != 20)
            return;
        std::filesystem::rename(keys, keys.string() + ".away");
        host.cut_connections();
        forgives = std::jthread([this, keys] {
            EXPECT_TRUE(wait_until([&] {
                return in_server_log("Failed publickey") + in_server_log("Connection closed by authenticating") > 0;
            }));
            std::filesystem::rename(keys.string() + ".away", keys);
        });
    };
    const auto result = launch(asked(host, {{"FAKE_STEPS", "200"}, {"FAKE_STEP_MS", "20"}}), observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok) << (result->problem ? result->problem->line() : "");
    expect_whole(read_events(result->folder / "events.jsonl"), "ok");
}

// A second computer, which has never heard of the run, finds it on its host, follows it beside the first, and both have
// every event.
TEST_F(SshFaults, TwoComputersFollowOneRun)
{
    Sshd host(home, "host");
    host.start();
    ASSERT_TRUE(launch(asked(host, {{"FAKE_STEPS", "1"}}), observer, {}));
    ClientProcess first(
        asked(host, {{"FAKE_STEPS", "150"}, {"FAKE_STEP_MS", "20"}}), [](Recording& mine) { mine.trust = true; });
    const std::string& id = first.id();
    ASSERT_TRUE(wait_until([&] { return node_events(id).find("\"step\":20,") != std::string::npos; }));
    setenv("XDG_DATA_HOME", (home.path() / "data2").c_str(), 1);
    setenv("XDG_CONFIG_HOME", (home.path() / "config2").c_str(), 1);
    setenv("XDG_CACHE_HOME", (home.path() / "cache2").c_str(), 1);
    Recording second;
    second.trust = true;
    const Target target = ssh_target(home, {&host});
    const auto unknown = adopt("ZZZZ", target, second, {}, {}, agent_program());
    ASSERT_FALSE(unknown);
    EXPECT_NE(unknown.error().line().find("none of the hosts has such a run"), std::string::npos)
        << unknown.error().line();
    const auto found = adopt("last", target, second, {}, {}, agent_program());
    ASSERT_TRUE(found) << found.error().line();
    EXPECT_EQ(*found, id);
    const auto result = attach(id.substr(0, 20), second, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok);
    EXPECT_EQ(first.end(), 0) << "the first was not disturbed";
    expect_whole(second.events, "ok");
    EXPECT_EQ(steps_of(second.events).size(), 150u);
    const auto there = read_text_file(result->folder / "events.jsonl");
    const auto here = read_text_file(home.path() / "data/fourfold/runs" / id / "events.jsonl");
    ASSERT_TRUE(there && here);
    EXPECT_EQ(*there, *here);
    EXPECT_EQ(*there, node_events(id));
    const auto detail = HistoryStore::open(HistoryStore::default_file())->show(id);
    ASSERT_TRUE(detail) << detail.error().line();
    EXPECT_EQ(detail->summary.name, "Tiny");
    EXPECT_TRUE(detail->summary.predicted_tps_per_gpu);
    EXPECT_EQ(detail->summary.steps, 150);
    EXPECT_EQ(*adopt(id, target, second, {}, {}, agent_program()), id) << "known by now";
    std::string typed = id;
    std::ranges::transform(typed, typed.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto lower = adopt(typed, target, second, {}, {}, agent_program());
    ASSERT_TRUE(lower) << lower.error().line();
    EXPECT_EQ(*lower, id) << "as the history takes it";
}

} // namespace
} // namespace fourfold::test
