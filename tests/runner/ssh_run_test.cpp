// SPDX-License-Identifier: GPL-3.0-or-later
// Whole runs over SSH on loopback: a real sshd for each of two nodes, the real agent, the fake trainer.
#include "core/base/paths.h"
#include "core/base/sha256.h"
#include "core/history/store.h"
#include "runner/protocol/message.h"
#include "runner/runs/adopt.h"
#include "runner/ssh/ssh_transport.h"
#include "tests/runner/sshd.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <thread>

namespace fourfold::test {
namespace {

std::string text_of(const std::filesystem::path& file)
{
    const auto text = read_text_file(file);
    return text ? *text : "(missing)";
}

class SshRun : public testing::Test {
protected:
    void SetUp() override
    {
        if (const std::string why = why_no_sshd(); !why.empty())
            GTEST_SKIP() << why;
        first.start();
        second.start();
        observer.trust = true;
    }

    RunRequest asked(const std::map<std::string, std::string>& environment)
    {
        RunRequest out = request(home, 4, environment);
        out.target = ssh_target(home, {&first, &second});
        return out;
    }

    RunResult run(const std::map<std::string, std::string>& environment, std::stop_token stop = {})
    {
        const auto result = launch(asked(environment), observer, stop);
        EXPECT_TRUE(result) << (result ? "" : result.error().line());
        if (!result)
            return {};
        EXPECT_EQ(processes_of(result->id), 0) << "nothing of a run may be left";
        expect_same_as_nodes(*result);
        return *result;
    }

    void expect_same_as_nodes(const RunResult& result)
    {
        const std::filesystem::path node = home.path() / "node/runs" / result.id;
        EXPECT_EQ(text_of(result.folder / "events.jsonl"), text_of(node / "events.jsonl"));
        EXPECT_EQ(text_of(result.folder / "events.node1.jsonl"), text_of(node / "node1/events.jsonl"));
        const auto store = HistoryStore::open(HistoryStore::default_file());
        ASSERT_TRUE(store);
        for (const auto& [stream, file] :
            {std::pair("events", "events.jsonl"), std::pair("node1", "events.node1.jsonl")}) {
            const auto lines = store->events(result.id, stream);
            ASSERT_TRUE(lines);
            std::string joined;
            for (const std::string& line : *lines)
                joined += line + "\n";
            EXPECT_EQ(joined, text_of(result.folder / file));
        }
    }

    // The one line with which a launch that never started ends.
    std::string refusal(const RunRequest& request)
    {
        const auto result = launch(request, observer, {});
        EXPECT_FALSE(result);
        if (result)
            return {};
        EXPECT_EQ(result.error().exit_status(), 1);
        EXPECT_EQ(processes_of(observer.id), 0);
        const auto detail = HistoryStore::open(HistoryStore::default_file())->show("last");
        EXPECT_TRUE(detail);
        EXPECT_EQ(detail->summary.state, RunState::fail);
        EXPECT_FALSE(detail->summary.problem.empty());
        const std::string line = result.error().line();
        EXPECT_EQ(line.find('\n'), std::string::npos);
        return line;
    }

    [[nodiscard]] bool sent_nothing() const
    {
        return observer.staged.empty()
            && std::any_of(observer.texts.begin(), observer.texts.end(),
                [](const std::string& text) { return text.starts_with("sent 0 bytes"); });
    }

    Home home;
    Sshd first{home, "node1"}, second{home, "node2"};
    Recording observer;
};

TEST_F(SshRun, FourRanksOnTwoHostsThenNothingIsSentAgain)
{
    const RunResult result = run({{"FAKE_STEPS", "50"}});
    EXPECT_EQ(result.state, RunState::ok);
    expect_whole(observer.events, "ok");
    EXPECT_EQ(steps_of(observer.events).size(), 50u);
    ASSERT_EQ(observer.questions.size(), 2u);
    for (const HostKeyQuestion& question : observer.questions) {
        EXPECT_EQ(question.key_type, "ssh-ed25519");
        EXPECT_TRUE(question.fingerprint == first.fingerprint() || question.fingerprint == second.fingerprint())
            << question.fingerprint;
    }
    struct stat info { };
    ASSERT_EQ(stat((config_folder() / "known_hosts").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
    ASSERT_EQ(stat((home.path() / "node/runs" / result.id).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
    EXPECT_FALSE(sent_nothing());
    EXPECT_NE(std::find_if(observer.staged.begin(), observer.staged.end(),
                  [](const std::string& what) { return what.find("libstdc++") != std::string::npos; }),
        observer.staged.end());
    for (int rank = 0; rank < 4; ++rank)
        EXPECT_NE(text_of(result.folder / ("rank" + std::to_string(rank) + ".log")).find("of 4 on 127.0.0.1"),
            std::string::npos);

    observer = {};
    const RunResult again = run({{"FAKE_STEPS", "3"}});
    EXPECT_EQ(again.state, RunState::ok);
    EXPECT_TRUE(observer.questions.empty()) << "a key that is trusted is not asked for again";
    EXPECT_TRUE(sent_nothing());
}

TEST_F(SshRun, UnknownHostKeyIsRefusedUnlessTrusted)
{
    observer.trust = false;
    const std::string line = refusal(asked({}));
    EXPECT_NE(line.find("the host key is not known: ssh-ed25519 SHA256:"), std::string::npos) << line;
    EXPECT_FALSE(std::filesystem::exists(config_folder() / "known_hosts"));
}

TEST_F(SshRun, ChangedHostKeyIsRefusedWithBothFingerprints)
{
    EXPECT_EQ(run({{"FAKE_STEPS", "2"}}).state, RunState::ok);
    const std::string before = second.fingerprint();
    second.stop();
    second.make_host_key();
    second.start();
    observer = {};
    observer.trust = true; // must not even be asked
    const std::string line = refusal(asked({}));
    EXPECT_TRUE(observer.questions.empty());
    EXPECT_NE(line.find("the host key has changed"), std::string::npos) << line;
    EXPECT_NE(line.find(before), std::string::npos) << line;
    EXPECT_NE(line.find(second.fingerprint()), std::string::npos) << line;
    EXPECT_NE(line.find("known_hosts:"), std::string::npos) << line;
}

TEST_F(SshRun, TheUsersOwnKnownHostsCount)
{
    std::filesystem::create_directories(home.path() / ".ssh");
    std::ofstream known(home.path() / ".ssh/known_hosts");
    for (const Sshd* host : {&first, &second}) {
        std::string type, key;
        std::ifstream in(home.path() / (host == &first ? "node1" : "node2") / "host_key.pub");
        in >> type >> key;
        known << "[127.0.0.1]:" << host->port() << ' ' << type << ' ' << key << "\n";
    }
    known.close();
    observer.trust = false;
    EXPECT_EQ(run({{"FAKE_STEPS", "2"}}).state, RunState::ok);
    EXPECT_FALSE(std::filesystem::exists(config_folder() / "known_hosts"));
}

TEST_F(SshRun, SecurityIsNotWeakenedByTheUsersConfiguration)
{
    std::filesystem::create_directories(home.path() / ".ssh");
    std::ofstream(home.path() / ".ssh/config")
        << "Host *\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  CertificateFile ~/.ssh/cert\n";
    observer.trust = false;
    const std::string line = refusal(asked({}));
    EXPECT_NE(line.find("the host key is not known"), std::string::npos) << line;
    EXPECT_TRUE(std::any_of(observer.texts.begin(), observer.texts.end(),
        [](const std::string& text) { return text.find("CertificateFile") != std::string::npos; }));
}

// Aliases, ports, users and keys of ~/.ssh/config, as ssh itself would take them.
TEST_F(SshRun, TheUsersConfigurationIsHonoured)
{
    std::filesystem::create_directories(home.path() / ".ssh");
    std::ofstream config(home.path() / ".ssh/config");
    for (const auto& [alias, host] : {std::pair("alpha", &first), std::pair("beta", &second)})
        config << "Host " << alias << "\n  HostName 127.0.0.1\n  Port " << host->port() << "\n  User "
               << host->host().user << "\n  IdentityFile " << client_key(home).string() << "\n";
    config.close();
    RunRequest out = asked({{"FAKE_STEPS", "2"}});
    out.target.hosts = load_target("x@alpha,beta")->hosts;
    for (TargetHost& host : out.target.hosts)
        host.user.clear();
    const auto result = launch(out, observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok);
}

TEST_F(SshRun, KeysOfTheSshAgentAndDefaultKeys)
{
    RunRequest out = asked({{"FAKE_STEPS", "2"}});
    for (TargetHost& host : out.target.hosts)
        host.key_file.clear();
    EXPECT_NE(refusal(out).find("accepts none of your keys"), std::string::npos);

    const PlainFolder plain;
    const std::string socket = (plain.path() / "agent").string();
    const pid_t keeper = fork();
    ASSERT_GE(keeper, 0);
    if (keeper == 0) {
        execlp("ssh-agent", "ssh-agent", "-D", "-a", socket.c_str(), nullptr);
        _exit(127);
    }
    EXPECT_TRUE(wait_until([&] { return std::filesystem::exists(socket); }));
    setenv("SSH_AUTH_SOCK", socket.c_str(), 1);
    EXPECT_EQ(run_program({"ssh-add", "-q", client_key(home).string()}), 0);
    const auto by_agent = launch(out, observer, {});
    kill(keeper, SIGTERM);
    waitpid(keeper, nullptr, 0);
    unsetenv("SSH_AUTH_SOCK");
    ASSERT_TRUE(by_agent) << by_agent.error().line();
    EXPECT_EQ(by_agent->state, RunState::ok);

    std::filesystem::create_directories(home.path() / ".ssh");
    std::filesystem::copy_file(client_key(home), home.path() / ".ssh/id_ed25519");
    std::filesystem::copy_file(client_key(home).string() + ".pub", home.path() / ".ssh/id_ed25519.pub");
    const auto by_default = launch(out, observer, {});
    ASSERT_TRUE(by_default) << by_default.error().line();
    EXPECT_EQ(by_default->state, RunState::ok);
}

TEST_F(SshRun, AKeyThatTheHostDoesNotKnow)
{
    RunRequest wrong = asked({});
    const std::string key = (home.path() / "other_key").string();
    ASSERT_EQ(run_program({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key}), 0);
    wrong.target.hosts[0].key_file = key;
    EXPECT_NE(refusal(wrong).find("accepts none of your keys"), std::string::npos);
    ASSERT_EQ(run_program({"ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", key + "2"}), 0);
    wrong.target.hosts[0].key_file = key + "2";
    EXPECT_NE(refusal(wrong).find("passphrase"), std::string::npos);
}

TEST_F(SshRun, UnreachableHosts)
{
    RunRequest away = asked({});
    second.stop();
    EXPECT_NE(refusal(away).find("the connection was refused"), std::string::npos);

    away.target.hosts[1].address = "no-such-host.invalid";
    EXPECT_NE(refusal(away).find("the name cannot be resolved"), std::string::npos);

    // A listener whose queue is full drops what comes: no answer at all.
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&at), size), 0);
    ASSERT_EQ(listen(listener, 0), 0);
    getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size);
    std::vector<int> filling;
    for (int i = 0; i < 4; ++i) {
        filling.push_back(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
        (void)connect(filling.back(), reinterpret_cast<sockaddr*>(&at), size);
    }
    away.target.hosts[1] = second.host();
    away.target.hosts[1].port = ntohs(at.sin_port);
    away.target.connect_timeout_s = 1;
    const std::string line = refusal(away);
    EXPECT_NE(line.find("no answer within 1 s"), std::string::npos) << line;
    for (const int fd : filling)
        close(fd);
    close(listener);
}

TEST_F(SshRun, CutLinksLoseNothing)
{
    std::atomic<int> cut = 0;
    observer.each_event = [&](const Json& event) {
        const auto step = integer_field(event, "step");
        if (step == 20 || step == 120)
            cut += first.cut_connections();
        if (step == 70)
            cut += second.cut_connections();
    };
    const RunResult result = run({{"FAKE_STEPS", "200"}, {"FAKE_STEP_MS", "20"}});
    EXPECT_GE(cut, 3);
    EXPECT_EQ(result.state, RunState::ok);
    expect_whole(observer.events, "ok");
    std::vector<int> expected(200);
    for (int i = 0; i < 200; ++i)
        expected[static_cast<std::size_t>(i)] = i + 1;
    EXPECT_EQ(steps_of(observer.events), expected);
    EXPECT_GE(std::count_if(observer.links.begin(), observer.links.end(),
                  [](const std::string& link) { return link.starts_with("reconnecting"); }),
        2);
}

TEST_F(SshRun, ARankOfTheSecondHostFails)
{
    const RunResult result
        = run({{"FAKE_STEPS", "100000"}, {"FAKE_FAIL_RANK", "3"}, {"FAKE_HOW", "segv"}, {"FAKE_CHILDREN", "1"}});
    EXPECT_EQ(result.state, RunState::fail);
    ASSERT_TRUE(result.problem);
    const std::string line = result.problem->line();
    EXPECT_NE(line.find("rank 3 (tp 1, cp 0, pp 0, dp 1)"), std::string::npos) << line;
    EXPECT_NE(line.find("SIGSEGV"), std::string::npos) << line;
    EXPECT_NE(line.find(std::to_string(second.port())), std::string::npos) << line;
    // The run's own stream tells the whole story too.
    expect_whole(observer.events, "fail");
    const Json error = last_event(observer.events, "error"); // what other ranks had said may follow it
    EXPECT_EQ(text_field(error, "event"), "error");
    EXPECT_EQ(integer_field(error, "rank"), 3);
}

// A rank that ends because it heard of another one's failure, and is gone before that one.
TEST_F(SshRun, ARankThatWasToldIsNotTheFirstToFail)
{
    const RunResult result
        = run({{"FAKE_STEPS", "100000"}, {"FAKE_FAIL_RANK", "0"}, {"FAKE_HOW", "oom"}, {"FAKE_TOLD_RANK", "3"}});
    EXPECT_EQ(result.state, RunState::oom);
    ASSERT_TRUE(result.problem);
    const std::string line = result.problem->line();
    EXPECT_NE(line.find("rank 0 (tp 0, cp 0, pp 0, dp 0)"), std::string::npos) << line;
    EXPECT_NE(line.find("out of memory in layer 3"), std::string::npos) << line;
}

TEST_F(SshRun, StopReachesAllHosts)
{
    std::stop_source stop;
    observer.each_event = [&](const Json& event) {
        if (integer_field(event, "step") == 5)
            stop.request_stop();
    };
    const RunResult result
        = run({{"FAKE_STEPS", "100000"}, {"FAKE_CHILDREN", "1"}, {"FAKE_IGNORE_TERM", "1"}}, stop.get_token());
    EXPECT_EQ(result.state, RunState::cancelled);
    expect_whole(observer.events, "cancelled");
}

TEST_F(SshRun, DamagedFilesOnTheNodeAreSentAgain)
{
    EXPECT_EQ(run({{"FAKE_STEPS", "2"}}).state, RunState::ok);
    const auto hash = sha256_file(fake_trainer());
    ASSERT_TRUE(hash);
    const std::filesystem::path stored = home.path() / "node/store" / *hash;
    ASSERT_TRUE(std::filesystem::exists(stored));
    chmod(stored.c_str(), 0700);
    {
        std::fstream file(stored, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(1000);
        file.write("damage", 6);
    }
    // The agent too.
    for (const auto& entry : std::filesystem::recursive_directory_iterator(home.path() / "node/agent")) {
        if (entry.is_regular_file()) {
            chmod(entry.path().c_str(), 0700);
            std::ofstream(entry.path(), std::ios::app) << "damage";
        }
    }
    observer = {};
    EXPECT_EQ(run({{"FAKE_STEPS", "2"}}).state, RunState::ok);
    EXPECT_FALSE(sent_nothing());
    const auto now = sha256_file(stored);
    ASSERT_TRUE(now);
    EXPECT_EQ(*now, *hash);
}

// Also without a newline at the end, and with what looks like our own words. The warning shows that it was really
// there.
TEST_F(SshRun, AShellThatPrintsIsNoHindrance)
{
    std::ofstream(home.path() / "noise") << "echo Welcome to the node; echo FOURFOLDed\nprintf 'no newline: '\n";
    Sshd noisy(home, "noisy", {"127.0.0.1", 0, {}, (home.path() / "noise").string()});
    noisy.start();
    RunRequest out = request(home, 2, {{"FAKE_STEPS", "3"}});
    out.target = ssh_target(home, {&noisy});
    const auto result = launch(out, observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok);
    EXPECT_EQ(std::count_if(observer.texts.begin(), observer.texts.end(),
                  [](const std::string& text) {
                      return text.find("printed \"Welcome to the node\\nFOURFOLDed\\nno newline: \"")
                          != std::string::npos;
                  }),
        1)
        << "said once before the run";
}

TEST_F(SshRun, FilesOfTheSamePathAreUsedWhereTheyAre)
{
    RunRequest out = asked({{"FAKE_STEPS", "2"}});
    out.target.reuse_files = true;
    const auto result = launch(out, observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok);
    EXPECT_TRUE(std::all_of(observer.staged.begin(), observer.staged.end(),
        [](const std::string& what) { return what.find("fourfold-agent") != std::string::npos; }));
}

TEST_F(SshRun, ABaseFolderThatCannotBeUsed)
{
    RunRequest out = asked({});
    std::ofstream(home.path() / "a-file") << "x";
    out.target.base_folder = (home.path() / "a-file/below").string();
    const std::string line = refusal(out);
    EXPECT_NE(line.find("the base folder cannot be made"), std::string::npos) << line;
}

// A server that refuses says so; of a line that is cut the library says nothing.
TEST(NoCommand, ACutLineIsNotTakenForARefusal)
{
    EXPECT_NE(no_command_problem("Channel opening failure", true, "a").line().find("MaxSessions"), std::string::npos);
    for (const Problem& cut : {no_command_problem("", true, "a"), no_command_problem("Socket error", false, "a")}) {
        EXPECT_NE(cut.line().find("a: the connection broke"), std::string::npos) << cut.line();
        EXPECT_EQ(cut.line().find("MaxSessions"), std::string::npos) << cut.line();
    }
}

// The node has another address by now: the one that is named counts from then on.
TEST(NamedTarget, ARunIsFollowedUnderTheAddressThatIsNamed)
{
    if (const std::string why = why_no_sshd(); !why.empty())
        GTEST_SKIP() << why;
    const Home home;
    Sshd host(home, "host"), moved(home, "moved");
    host.start();
    RunRequest asked = request(home, 2, {{"FAKE_STEPS", "60"}, {"FAKE_STEP_MS", "20"}});
    asked.target = ssh_target(home, {&host});
    ClientProcess first(asked, [](Recording& mine) { mine.trust = true; });
    const std::string id = first.id();
    const auto there = home.path() / "node/runs" / id / "events.jsonl";
    ASSERT_TRUE(wait_until([&] { return steps_of(read_events(there)).size() >= 5; }));
    first.end(SIGKILL);
    host.stop();
    moved.start();
    Recording observer;
    observer.trust = true;
    const auto found = adopt(id, ssh_target(home, {&moved}), observer, {}, {}, agent_program());
    ASSERT_TRUE(found) << found.error().line();
    const auto result = attach(id, observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok) << (result->problem ? result->problem->line() : "");
    EXPECT_EQ(steps_of(read_events(result->folder / "events.jsonl")).size(), 60u);
}

} // namespace
} // namespace fourfold::test
