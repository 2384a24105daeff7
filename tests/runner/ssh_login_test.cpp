// SPDX-License-Identifier: GPL-3.0-or-later
// Ways to a host: jump hosts with both keys checked, passphrases that are asked for once, one-time codes.
#include "runner/ssh/ssh_connect.h"
#include "tests/runner/code_server.h"
#include "tests/runner/sshd.h"

#include <algorithm>
#include <fstream>

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
    EXPECT_FALSE(observer.secrets_asked[0].again);
    EXPECT_TRUE(observer.secrets_asked[1].again);
    EXPECT_EQ(observer.right_answers, 1);
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
    ASSERT_EQ(asked.size(), 3u) << "as ssh has it";
    EXPECT_FALSE(asked[0].again);
    EXPECT_TRUE(asked[1].again);
    EXPECT_TRUE(asked[2].again);
    int right_answers = 0;
    options.prompts.right = [&] { ++right_answers; };
    answer = CodeServer::kCode;
    const auto right = ssh_connect_to(options, {});
    EXPECT_TRUE(right) << right.error().line();
    EXPECT_EQ(right_answers, 1);
    EXPECT_TRUE(wait_until([&] { return server.logins() == 1; })) << "it counts when its own side is through";
    EXPECT_EQ(asked[0].host, "code host");
    EXPECT_EQ(asked[0].prompt, "One-time Code\\u001b[31m: ") << "control characters of the host are not shown";
    EXPECT_FALSE(asked[0].echo);
}

} // namespace
} // namespace fourfold::test
