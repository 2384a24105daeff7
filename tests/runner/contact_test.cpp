// SPDX-License-Identifier: GPL-3.0-or-later
// What stands in the way between this computer and a host: each cause is a finding with its name, what was seen, and a
// cure.
#include "core/base/paths.h"
#include "runner/preflight/contact.h"
#include "runner/preflight/probe.h"
#include "tests/runner/sshd.h"

#include <algorithm>
#include <fstream>

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
    EXPECT_EQ(rude.evidence, "a [31m b?");
}

TEST(Contact, NoiseIsShownByteForByte)
{
    EXPECT_FALSE(shell_finding("h", {}));
    const auto noise = shell_finding("h", {std::string("\x1b[1mHi \"you\"\\\r\n\0\xff", 17), 17});
    ASSERT_TRUE(noise);
    EXPECT_EQ(noise->check, "shell");
    EXPECT_EQ(noise->level, FindingLevel::warning);
    EXPECT_NE(noise->message.find("print 17 bytes"), std::string::npos) << noise->message;
    EXPECT_EQ(noise->evidence, R"(printed "\x1b[1mHi \"you\"\\\r\n\x00\xff")");
    EXPECT_FALSE(noise->cure.empty());
    const auto words = shell_finding("h", {"Grüß", 7000});
    EXPECT_EQ(words->evidence, "printed \"Grüß\"...") << "more came than is kept";
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
        const auto report = probe_target(target, observer, {}, false, agent_program());
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

TEST_F(HostContact, AChangedKey)
{
    const Target target = ssh_target(home, {&host});
    ASSERT_TRUE(probe_target(target, observer, {}, false, agent_program())->good());
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
    const Finding finding = obstacle(target);
    EXPECT_EQ(finding.check, "base folder");
    expect_says(finding.evidence, {"mkdir", "a-file"}); // the system's own words
    expect_says(finding.cure, {"base_folder"});
}

TEST_F(HostContact, AShellThatPrints)
{
    if (const std::string why = why_no_shell_noise(); !why.empty())
        GTEST_SKIP() << why;
    // Begins as our own words do, and ends without a newline.
    const std::string printed = "FOURFOLD_is not what this says\nWelcome\x1b[1m: ";
    const auto noise = home.path() / "noise";
    std::ofstream(noise) << "printf 'FOURFOLD_is not what this says\\nWelcome\\033[1m: '\n";
    Sshd noisy(home, "noisy", {"127.0.0.1", 0, {}, noise.string()});
    noisy.start();
    const auto report = probe_target(ssh_target(home, {&noisy, &host}), observer, {}, false, agent_program());
    ASSERT_TRUE(report) << report.error().line();
    EXPECT_TRUE(report->good()) << probe_text(*report);
    std::vector<Finding> shells;
    std::copy_if(report->findings.begin(), report->findings.end(), std::back_inserter(shells),
        [](const Finding& finding) { return finding.check == "shell"; });
    ASSERT_EQ(shells.size(), 1u) << "the other host's shell is silent";
    EXPECT_EQ(shells[0].level, FindingLevel::warning);
    expect_says(shells[0].host, {":" + std::to_string(noisy.port())});
    expect_says(shells[0].message, {"print " + std::to_string(printed.size()) + " bytes"});
    EXPECT_EQ(shells[0].evidence, R"(printed "FOURFOLD_is not what this says\nWelcome\x1b[1m: ")");
    expect_says(shells[0].cure, {".bashrc", "[ -t 1 ]"});
}

TEST_F(HostContact, AShellThatPrintsWithoutAnEnd)
{
    if (const std::string why = why_no_shell_noise(); !why.empty())
        GTEST_SKIP() << why;
    const auto noise = home.path() / "noise";
    std::ofstream(noise) << "yes tralala\n";
    Sshd noisy(home, "noisy", {"127.0.0.1", 0, {}, noise.string()});
    noisy.start();
    const Finding finding = obstacle(ssh_target(home, {&noisy}));
    EXPECT_EQ(finding.check, "shell");
    expect_says(finding.evidence, {"tralala tralala"});
    expect_says(finding.cure, {".bashrc"});
}

} // namespace
} // namespace fourfold::test
