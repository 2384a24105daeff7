// SPDX-License-Identifier: GPL-3.0-or-later
// Ways to a host: jump hosts with both keys checked, passphrases that are asked for once, one-time codes.
#include "runner/ssh/ssh_connect.h"
#include "tests/runner/sshd.h"

#include <libssh/server.h>

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>

namespace fourfold::test {
namespace {

class SshLogin : public testing::Test {
protected:
    void SetUp() override
    {
        if (const std::string why = why_no_sshd(); !why.empty())
            GTEST_SKIP() << why;
        jump.start();
        inner.start();
        observer.trust = true;
    }

    // Two ranks on the host behind the jump host.
    RunRequest behind()
    {
        RunRequest out = request(home, 2, {{"FAKE_STEPS", "2"}});
        out.target = ssh_target(home, {&inner});
        const TargetHost way = jump.host();
        out.target.hosts[0].jumps = {{way.address, way.user, way.port, way.key_file}};
        return out;
    }

    std::string outcome(const RunRequest& asked)
    {
        const auto result = launch(asked, observer, {});
        return result ? std::string(name(result->state)) : result.error().line();
    }

    Home home;
    Sshd jump{home, "jump"}, inner{home, "inner"};
    Recording observer;
};

TEST_F(SshLogin, ARunBehindAJumpHostChecksBothKeys)
{
    EXPECT_EQ(outcome(behind()), "ok");
    ASSERT_EQ(observer.questions.size(), 2u);
    EXPECT_NE(observer.questions[0].host.find("jump host"), std::string::npos);
    EXPECT_EQ(observer.questions[0].fingerprint, jump.fingerprint());
    EXPECT_EQ(observer.questions[1].fingerprint, inner.fingerprint());

    // Either key that changes stops the run before anything is sent there.
    inner.stop();
    inner.make_host_key();
    inner.start();
    const std::string changed = outcome(behind());
    EXPECT_NE(changed.find("the host key has changed"), std::string::npos) << changed;
    EXPECT_NE(changed.find(inner.fingerprint()), std::string::npos) << changed;
    jump.stop();
    jump.make_host_key();
    jump.start();
    const std::string way = outcome(behind());
    EXPECT_NE(way.find("jump host"), std::string::npos) << way;
    EXPECT_NE(way.find(jump.fingerprint()), std::string::npos) << way;
    EXPECT_EQ(observer.questions.size(), 2u) << "a changed key is never asked about";
}

TEST_F(SshLogin, AnUnknownInnerKeyIsRefusedInBatchMode)
{
    Recording batch;
    RunRequest through = behind();
    ASSERT_EQ(outcome(through), "ok");
    inner.stop();
    std::filesystem::remove_all(home.path() / "config");
    observer = {};
    const std::string refused = outcome(through);
    EXPECT_NE(refused.find("jump host"), std::string::npos) << refused;
    EXPECT_NE(refused.find("the host key is not known"), std::string::npos) << refused;
}

TEST_F(SshLogin, AHostThatTheJumpHostDoesNotReach)
{
    inner.stop();
    const std::string line = outcome(behind());
    EXPECT_NE(line.find("the jump host does not reach 127.0.0.1 port"), std::string::npos) << line;
}

TEST_F(SshLogin, ProxyJumpOfTheUsersConfigurationIsNative)
{
    std::filesystem::create_directories(home.path() / ".ssh");
    const TargetHost way = jump.host(), goal = inner.host();
    std::ofstream(home.path() / ".ssh/config")
        << "Host goal\n  HostName 127.0.0.1\n  Port " << goal.port << "\n  User " << goal.user << "\n  IdentityFile "
        << goal.key_file << "\n  ProxyJump " << way.user << "@" << way.address << ":" << way.port
        << "\nHost 127.0.0.1\n  IdentityFile " << way.key_file << "\n";
    RunRequest out = behind();
    out.target.hosts = {TargetHost{}};
    out.target.hosts[0].address = "goal";
    EXPECT_EQ(outcome(out), "ok");
    ASSERT_EQ(observer.questions.size(), 2u);
    EXPECT_NE(observer.questions[0].host.find("jump host"), std::string::npos);
}

TEST_F(SshLogin, JumpHostsThatNameEachOtherEnd)
{
    std::filesystem::create_directories(home.path() / ".ssh");
    std::ofstream(home.path() / ".ssh/config")
        << "Host goal\n  HostName 127.0.0.1\n  ProxyJump way\nHost way\n  HostName 127.0.0.1\n  ProxyJump goal\n";
    RunRequest out = behind();
    out.target.hosts = {TargetHost{}};
    out.target.hosts[0].address = "goal";
    const std::string line = outcome(out);
    EXPECT_NE(line.find("more than 8 jump hosts (do they name each other?)"), std::string::npos) << line;
}

TEST(ProxyCommands, WhatLibsshMakesOfProxyJump)
{
    const auto jumps = jumps_of_proxy_command("ssh -l me -p 2222 -J a@h2:23,h3 -W '[%h]:%p' h1");
    ASSERT_TRUE(jumps);
    ASSERT_EQ(jumps->size(), 3u);
    EXPECT_EQ(place_name((*jumps)[0]), "me@h1:2222");
    EXPECT_EQ(place_name((*jumps)[1]), "a@h2:23");
    EXPECT_EQ((*jumps)[2].address, "h3");
    for (const char* other : {"nc %h %p", "ssh -W %h:%p jump", "ssh -o X=y -W '[%h]:%p' h", "ssh -W '[%h]:%p' h; id"})
        EXPECT_FALSE(jumps_of_proxy_command(other)) << other;
}

// A passphrase is asked for once, however many hosts want the key.
TEST_F(SshLogin, APassphraseIsAskedForOnce)
{
    ASSERT_EQ(
        run_program({"ssh-keygen", "-q", "-p", "-P", "", "-N", "open sesame", "-f", client_key(home).string()}), 0);
    RunRequest out = request(home, 2, {{"FAKE_STEPS", "2"}});
    out.target = ssh_target(home, {&jump, &inner});
    EXPECT_NE(outcome(out).find("passphrase"), std::string::npos) << "nobody to ask";
    observer.answers = {"wrong", "open sesame"};
    EXPECT_EQ(outcome(out), "ok");
    ASSERT_EQ(observer.secrets_asked.size(), 2u);
    EXPECT_NE(observer.secrets_asked[0].prompt.find("client_key"), std::string::npos);
    EXPECT_EQ(outcome(out), "ok");
    EXPECT_EQ(observer.secrets_asked.size(), 2u) << "it is known from then on";
    // Also for a key that is found by itself, behind a jump host.
    std::filesystem::create_directories(home.path() / ".ssh");
    std::filesystem::copy_file(client_key(home), home.path() / ".ssh/id_ed25519");
    std::filesystem::copy_file(client_key(home).string() + ".pub", home.path() / ".ssh/id_ed25519.pub");
    RunRequest found = behind();
    found.target.hosts[0].key_file.clear();
    found.target.hosts[0].jumps[0].key_file.clear();
    EXPECT_EQ(outcome(found), "ok");
    EXPECT_EQ(observer.secrets_asked.size(), 2u);
}

// A server that lets in whoever answers its question.
class CodeServer {
public:
    explicit CodeServer(const std::filesystem::path& host_key)
        : bind_(ssh_bind_new())
    {
        const std::string key = host_key.string();
        ssh_bind_options_set(bind_, SSH_BIND_OPTIONS_BINDADDR, "127.0.0.1");
        const unsigned any = 0;
        ssh_bind_options_set(bind_, SSH_BIND_OPTIONS_BINDPORT, &any);
        ssh_bind_options_set(bind_, SSH_BIND_OPTIONS_HOSTKEY, key.c_str());
        EXPECT_EQ(ssh_bind_listen(bind_), SSH_OK) << ssh_get_error(bind_);
        sockaddr_in at{};
        socklen_t size = sizeof at;
        getsockname(ssh_bind_get_fd(bind_), reinterpret_cast<sockaddr*>(&at), &size);
        port = ntohs(at.sin_port);
        thread_ = std::thread([this] { serve(); });
    }
    ~CodeServer()
    {
        stop_ = true;
        shutdown(ssh_bind_get_fd(bind_), SHUT_RDWR);
        thread_.join();
        ssh_bind_free(bind_);
    }
    int port = 0;

private:
    void serve()
    {
        while (!stop_) {
            SshSession session(ssh_new());
            if (ssh_bind_accept(bind_, session.get()) != SSH_OK)
                return;
            if (ssh_handle_key_exchange(session.get()) == SSH_OK)
                authenticate(session.get());
            ssh_disconnect(session.get());
        }
    }
    void authenticate(ssh_session session) const
    {
        while (ssh_message message = ssh_message_get(session)) {
            bool done = false;
            if (ssh_message_type(message) == SSH_REQUEST_AUTH
                && ssh_message_subtype(message) == SSH_AUTH_METHOD_INTERACTIVE) {
                if (!ssh_message_auth_kbdint_is_response(message)) {
                    const char* prompts[] = {"Code\x1b[31m: "};
                    char echo[] = {0};
                    ssh_message_auth_interactive_request(message, "", "One-time", 1, prompts, echo);
                    ssh_message_free(message);
                    continue;
                }
                const char* answer = ssh_userauth_kbdint_getanswer(session, 0);
                if (answer && std::string(answer) == "123456") {
                    ssh_message_auth_reply_success(message, 0);
                    done = true;
                }
            }
            if (!done) {
                ssh_message_auth_set_methods(message, SSH_AUTH_METHOD_INTERACTIVE);
                ssh_message_reply_default(message);
            }
            ssh_message_free(message);
            if (done)
                return;
        }
    }

    ssh_bind bind_;
    std::atomic<bool> stop_ = false;
    std::thread thread_;
};

TEST(OneTimeCodes, AreAskedForAndNeverInBatchMode)
{
    Home home;
    const CodeServer server(client_key(home));
    std::vector<SecretQuestion> asked;
    ConnectOptions options;
    options.name = "code host";
    options.host.address = "127.0.0.1";
    options.host.port = server.port;
    options.host.user = "me";
    options.prompts.trust_host_key = [](const HostKeyQuestion&) { return true; };
    const auto batch = ssh_connect_to(options, {});
    ASSERT_FALSE(batch);
    EXPECT_EQ(batch.error().code, ProblemCode::refused);
    EXPECT_NE(batch.error().line().find("one-time code"), std::string::npos) << batch.error().line();
    std::string answer = "000000";
    options.prompts.secret = [&](const SecretQuestion& question) {
        asked.push_back(question);
        return std::optional(answer);
    };
    EXPECT_FALSE(ssh_connect_to(options, {}));
    answer = "123456";
    const auto right = ssh_connect_to(options, {});
    EXPECT_TRUE(right) << right.error().line();
    ASSERT_FALSE(asked.empty());
    EXPECT_EQ(asked[0].host, "code host");
    EXPECT_EQ(asked[0].prompt, "One-time Code\\u001b[31m: ") << "control characters of the host are not shown";
    EXPECT_FALSE(asked[0].echo);
}

} // namespace
} // namespace fourfold::test
