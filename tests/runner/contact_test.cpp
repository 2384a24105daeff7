// SPDX-License-Identifier: GPL-3.0-or-later
// What stands in the way between this computer and a host: each cause is a finding with its name, what was seen, and a
// cure.
#include "core/base/paths.h"
#include "runner/preflight/contact.h"
#include "runner/preflight/probe.h"
#include "tests/runner/sshd.h"

#include <algorithm>
#include <fstream>
#include <memory>

namespace fourfold::test {
namespace {

TEST(Contact, AProblemIsAFindingWithItsEvidence)
{
    const Finding plain = contact_finding(
        "node1", {ProblemCode::network, "the name cannot be resolved: node1, unknown", "check it", "node1"});
    EXPECT_EQ(plain.level, FindingLevel::error);
    EXPECT_EQ(plain.line(), "node1: DNS: the name cannot be resolved (node1, unknown); check it");
    const Finding jump = contact_finding(
        "node1", {ProblemCode::network, "no answer within 5 s: 10.0.0.9 port 22", "x", "jump host g"});
    EXPECT_EQ(jump.check, "port");
    EXPECT_EQ(jump.evidence, "jump host g: 10.0.0.9 port 22") << "it is not the host itself";
    const Finding key
        = contact_finding("node1", {ProblemCode::not_found, "the key file cannot be read", "x", "node1: ~/.ssh/k"});
    EXPECT_EQ(key.check, "authentication");
    EXPECT_EQ(key.evidence, "~/.ssh/k");
    const Finding rude = contact_finding("h", {ProblemCode::network, "the host says: a\x1b[31m\nb\xff", {}, {}});
    EXPECT_EQ(rude.check, "connection");
    EXPECT_EQ(rude.evidence, "a\\u001b[31m b?");
}

TEST(Contact, NoiseIsShownByteForByte)
{
    EXPECT_TRUE(shell_findings("h", {}).empty());
    const auto noise = shell_findings("h", {{std::string("\x1b[1mHi \"you\"\\\r\n\0\xff", 17), 17}, {}});
    ASSERT_EQ(noise.size(), 1u);
    EXPECT_EQ(noise[0].check, "shell");
    EXPECT_EQ(noise[0].level, FindingLevel::warning);
    EXPECT_NE(noise[0].message.find("print 17 bytes before"), std::string::npos) << noise[0].message;
    EXPECT_EQ(noise[0].evidence, R"(printed "\x1b[1mHi \"you\"\\\r\n\x00\xff")");
    EXPECT_FALSE(noise[0].cure.empty());
    const auto words = shell_findings("h", {{}, {"Grüß", 7000}});
    ASSERT_EQ(words.size(), 1u);
    EXPECT_NE(words[0].message.find("print 7000 bytes on standard error"), std::string::npos) << words[0].message;
    EXPECT_EQ(words[0].evidence, "printed \"Grüß\"...") << "more came than is kept";
    EXPECT_EQ(shell_findings("h", {{"a", 1}, {"b", 1}}).size(), 2u);
}

class HostContact : public testing::Test {
protected:
    void SetUp() override
    {
        if (const std::string why = why_no_sshd(); !why.empty())
            GTEST_SKIP() << why;
        host.start();
        observer.trust = true;
    }

    // The one finding of the probe that keeps a run from working.
    Finding obstacle(const Target& target)
    {
        const auto report = probe_target(target, observer, {}, LookFor::trouble, agent_program());
        EXPECT_TRUE(report) << report.error().line();
        if (!report)
            return {};
        EXPECT_FALSE(report->good());
        EXPECT_TRUE(report->hosts.empty());
        EXPECT_EQ(report->findings.size(), 1u) << probe_text(*report);
        if (report->findings.empty())
            return {};
        const Finding& out = report->findings.front();
        EXPECT_EQ(out.level, FindingLevel::error);
        EXPECT_EQ(out.host, host_name(target, 0));
        for (const std::string* part : {&out.message, &out.evidence, &out.cure})
            EXPECT_FALSE(part->empty()) << out.line();
        return out;
    }

    Home home;
    Sshd host{home, "node"};
    Recording observer;
};

// The text holds all of these.
void expect_says(const std::string& text, std::initializer_list<std::string> parts)
{
    for (const std::string& part : parts)
        EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in: " << text;
}

TEST_F(HostContact, ANameThatDoesNotResolve)
{
    Target target = ssh_target(home, {&host});
    target.hosts[0].address = "no-such-host.invalid";
    const Finding finding = obstacle(target);
    EXPECT_EQ(finding.check, "DNS");
    EXPECT_EQ(finding.message, "the name cannot be resolved");
    expect_says(finding.evidence, {"no-such-host.invalid"});
    expect_says(finding.cure, {"spelling", "name server", "address"});
}

TEST_F(HostContact, NobodyListens)
{
    host.stop();
    const Finding finding = obstacle(ssh_target(home, {&host}));
    EXPECT_EQ(finding.check, "port");
    expect_says(finding.message, {"refused"});
    expect_says(finding.evidence, {"127.0.0.1 port " + std::to_string(host.port())});
    expect_says(finding.cure, {"sshd"});
}

TEST_F(HostContact, AnUnknownKeyWithNobodyToAsk)
{
    observer.trust = false;
    const Finding finding = obstacle(ssh_target(home, {&host}));
    EXPECT_EQ(finding.check, "host key");
    EXPECT_EQ(finding.message, "the host key is not known");
    EXPECT_EQ(finding.evidence, "ssh-ed25519 " + host.fingerprint());
    expect_says(finding.cure, {"compare", "--accept-new-hosts"});
    EXPECT_FALSE(std::filesystem::exists((config_folder() / "known_hosts"))) << "nothing was trusted";
}

// A key that is trusted and cannot be kept: it would be asked about for ever.
TEST_F(HostContact, AKeyThatCannotBeStored)
{
    std::filesystem::create_directories(config_folder() / "known_hosts"); // in the file's place
    const Finding finding = obstacle(ssh_target(home, {&host}));
    EXPECT_EQ(finding.check, "host key");
    EXPECT_EQ(finding.message, "the host key cannot be stored");
    expect_says(finding.evidence, {"known_hosts", "directory"});
}

TEST_F(HostContact, AChangedKey)
{
    const Target target = ssh_target(home, {&host});
    ASSERT_TRUE(probe_target(target, observer, {}, LookFor::trouble, agent_program())->good());
    const std::string before = host.fingerprint();
    host.stop();
    host.make_host_key();
    host.start();
    observer.questions.clear();
    const Finding finding = obstacle(target);
    EXPECT_TRUE(observer.questions.empty()) << "a changed key is no question";
    EXPECT_EQ(finding.check, "host key");
    EXPECT_EQ(finding.message, "the host key has changed");
    expect_says(finding.evidence, {"it shows ssh-ed25519 " + host.fingerprint(), "known is ssh-ed25519 " + before});
    expect_says(finding.cure, {"listening in", (config_folder() / "known_hosts").string() + ":1"});
}

TEST_F(HostContact, AKeyOfTheUserThatIsNotTaken)
{
    Target target = ssh_target(home, {&host});
    const std::string key = (home.path() / "other_key").string();
    ASSERT_EQ(run_program({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key}), 0);
    target.hosts[0].key_file = key;
    const Finding refused = obstacle(target);
    EXPECT_EQ(refused.check, "authentication");
    expect_says(refused.message, {"accepts none of your keys", "user " + target.hosts[0].user});
    expect_says(refused.evidence, {"tried " + key + ", ssh-ed25519 SHA256:"});
    expect_says(refused.cure, {"authorized_keys", "ssh-agent"});

    target.hosts[0].key_file = key + ".missing";
    const Finding missing = obstacle(target);
    EXPECT_EQ(missing.check, "authentication");
    expect_says(missing.evidence, {key + ".missing"});
    expect_says(missing.cure, {"key_file"});
}

TEST_F(HostContact, ABaseFolderThatCannotBeMade)
{
    Target target = ssh_target(home, {&host});
    std::ofstream(home.path() / "a-file") << "x";
    target.base_folder = (home.path() / "a-file/below").string();
    const Finding file = obstacle(target);
    EXPECT_EQ(file.check, "base folder");
    EXPECT_EQ(file.evidence, (home.path() / "a-file").string() + " is not a folder");
    expect_says(file.cure, {"base_folder"});

    target.base_folder = "/proc/no-such/below"; // where root cannot make one either
    const Finding finding = obstacle(target);
    EXPECT_EQ(finding.check, "base folder");
    expect_says(finding.evidence, {"/proc/no-such", "mkdir"}); // the system's own words
    expect_says(finding.cure, {"base_folder"});
}

// Hosts whose login shell runs `commands` before each command.
class NoisyHost : public HostContact {
protected:
    Sshd& start(const std::string& commands)
    {
        const auto file = home.path() / "noise";
        std::ofstream(file) << commands;
        noisy = std::make_unique<Sshd>(home, "noisy", SshdPlace{"127.0.0.1", 0, {}, file.string()});
        noisy->start();
        return *noisy;
    }
    // What a probe says about the shells of the noisy and of the silent host; a run works.
    std::vector<Finding> shells()
    {
        const auto report
            = probe_target(ssh_target(home, {noisy.get(), &host}), observer, {}, LookFor::trouble, agent_program());
        EXPECT_TRUE(report) << report.error().line();
        std::vector<Finding> out;
        if (!report)
            return out;
        EXPECT_TRUE(report->good()) << probe_text(*report);
        std::copy_if(report->findings.begin(), report->findings.end(), std::back_inserter(out),
            [](const Finding& finding) { return finding.check == "shell"; });
        for (const Finding& finding : out) {
            EXPECT_EQ(finding.level, FindingLevel::warning);
            expect_says(finding.host, {":" + std::to_string(noisy->port())});
        }
        return out;
    }
    std::unique_ptr<Sshd> noisy;
};

TEST_F(NoisyHost, PrintsToStandardOutput)
{
    // Begins as our own words do, and ends without a newline.
    const std::string printed = "FOURFOLD_is not what this says\nWelcome\x1b[1m: ";
    start("printf 'FOURFOLD_is not what this says\\nWelcome\\033[1m: '\n");
    const auto found = shells();
    ASSERT_EQ(found.size(), 1u) << "the other host's shell is silent";
    expect_says(found[0].message, {"print " + std::to_string(printed.size()) + " bytes before"});
    EXPECT_EQ(found[0].evidence, R"(printed "FOURFOLD_is not what this says\nWelcome\x1b[1m: ")");
    expect_says(found[0].cure, {".bashrc", "[ -t 1 ]"});
}

TEST_F(NoisyHost, PrintsToStandardError)
{
    const std::string printed = "stty: 'standard input': Inappropriate ioctl for device\nmodule: not found";
    start("printf \"stty: 'standard input': Inappropriate ioctl for device\\nmodule: not found\" >&2\n");
    // The first contact brings the agent, the second finds it there.
    for (int contact = 0; contact < 2; ++contact) {
        const auto found = shells();
        ASSERT_EQ(found.size(), 1u) << "the other host's shell is silent";
        expect_says(found[0].message, {"print " + std::to_string(printed.size()) + " bytes on standard error"});
        EXPECT_EQ(found[0].evidence,
            R"(printed "stty: 'standard input': Inappropriate ioctl for device\nmodule: not found")");
        expect_says(found[0].cure, {".bashrc", "[ -t 0 ]", "module"});
    }
    // A run is told so before it starts, and goes well.
    RunRequest asked = request(home, 2, {{"FAKE_STEPS", "2"}});
    asked.target = ssh_target(home, {noisy.get()});
    const auto result = launch(asked, observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok);
    EXPECT_TRUE(std::any_of(observer.texts.begin(), observer.texts.end(), [](const std::string& text) {
        return text.find("on standard error before a command runs") != std::string::npos;
    }));
}

// Why a folder cannot be made is read from standard error, where the start-up files have printed before.
TEST_F(NoisyHost, PrintsToBothAndItsBaseFolderCannotBeMade)
{
    start("echo hello; echo >&2 greetings\n");
    EXPECT_EQ(shells().size(), 2u);
    Target target = ssh_target(home, {noisy.get()});
    target.base_folder = "/proc/no-such/below";
    const Finding finding = obstacle(target);
    EXPECT_EQ(finding.check, "base folder");
    expect_says(finding.evidence, {"mkdir"});
    for (const char* word : {"greetings", "FOURFOLD"})
        EXPECT_EQ(finding.line().find(word), std::string::npos) << finding.line();
}

TEST_F(NoisyHost, PrintsWithoutAnEnd)
{
    for (const char* to : {"1", "2"}) {
        start("yes tralala >&" + std::string(to) + "\n");
        const Finding finding = obstacle(ssh_target(home, {noisy.get()}));
        EXPECT_EQ(finding.check, "shell");
        expect_says(finding.evidence, {"tralala tralala"});
        expect_says(finding.cure, {".bashrc"});
    }
}

} // namespace
} // namespace fourfold::test
