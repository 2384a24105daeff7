// SPDX-License-Identifier: GPL-3.0-or-later
// What a host asks before it lets anybody in, at a terminal: an sshd on loopback whose key nobody knows, a key with a
// passphrase; a run, the check of the nodes, the search for a cluster.
#include "tests/runner/code_server.h"
#include "tests/runner/sshd.h"
#include "tests/tui/tui_fixture.h"

#include <regex>

namespace fourfold::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class TuiHosts : public Tui {
protected:
    void SetUp() override
    {
        if (const std::string why = why_no_sshd(); !why.empty())
            GTEST_SKIP() << why;
        Tui::SetUp();
        server_.start();
        const std::filesystem::path targets = folder_ / "config/fourfold/presets/targets";
        std::filesystem::create_directories(targets);
        ASSERT_TRUE(write_file_atomically(targets / "there.json", to_json(ssh_target(home_, {&server_})).dump()));
        std::filesystem::create_directories(home_.path() / ".ssh");
        const TargetHost host = server_.host();
        std::ofstream(home_.path() / ".ssh/config")
            << "Host alias\n  HostName 127.0.0.1\n  Port " << host.port << "\n  User " << host.user
            << "\n  IdentityFile " << host.key_file << "\n";
    }
    [[nodiscard]] std::vector<std::string> command() const
    {
        return faked({"tui", put_tiny_plan(folder_.path(), 5, 20).string()});
    }
    [[nodiscard]] std::filesystem::path known() const { return folder_ / "config/fourfold/known_hosts"; }
    // On the page of runs, with that server as the place to run.
    static void choose(TerminalProgram& program)
    {
        ASSERT_TRUE(program.shows("Tensor (TP)")) << program.grid().text();
        program.type("4t");
        ASSERT_TRUE(program.shows("Run on")) << program.grid().text();
        program.type("there\r");
        ASSERT_TRUE(program.shows("on there")) << program.grid().text();
    }
    // The question about the server's key is on the screen; answers it.
    void answer_key(TerminalProgram& program, const std::string& key) const
    {
        ASSERT_TRUE(program.shows("Unknown host")) << program.grid().text();
        EXPECT_TRUE(program.shows(server_.fingerprint())) << program.grid().text();
        EXPECT_TRUE(program.shows("ssh-ed25519"));
        program.type(key);
        ASSERT_TRUE(program.hides("Unknown host")) << program.grid().text();
    }
    // Whether these words come to the screen, however it breaks the line.
    static bool says(TerminalProgram& program, const std::string& words)
    {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(40);
        const auto flat = [&] { return std::regex_replace(program.grid().text(), std::regex("(\\s|\u2502)+"), " "); };
        while (flat().find(words) == std::string::npos) {
            if (std::chrono::steady_clock::now() > end)
                return false;
            program.read_some(std::chrono::milliseconds(50));
        }
        return true;
    }
    Home home_;
    Sshd server_{home_, "node"};
};

TEST_F(TuiHosts, AnUnknownKeyIsShownAndOnlyATrustedOneStored)
{
    TerminalProgram program(command(), options(40, 120));
    choose(program);
    for (const char* no : {"n", "c", "\033", "\r"}) { // Enter takes the first choice, which is no
        program.type("c");
        answer_key(program, no);
        ASSERT_TRUE(says(program, "the host key is not known")) << program.grid().text();
        EXPECT_TRUE(program.hides("Looking at the nodes"));
        EXPECT_FALSE(std::filesystem::exists(known()));
        program.type("\033");
        ASSERT_TRUE(program.hides("Esc closes")) << program.grid().text();
    }
    program.type("c");
    answer_key(program, "t");
    ASSERT_TRUE(program.shows("glibc", std::chrono::seconds(40))) << program.grid().text();
    EXPECT_TRUE(std::filesystem::exists(known()));
    program.type("\033");
    ASSERT_TRUE(program.hides("glibc"));
    program.type("c"); // it is known now
    ASSERT_TRUE(program.shows("glibc", std::chrono::seconds(40))) << program.grid().text();
    program.type("\033q");
    EXPECT_EQ(program.wait(), 0);
}

TEST_F(TuiHosts, ARunAsksAboutTheKeyAndGoesOn)
{
    TerminalProgram program(command(), options(40, 120));
    choose(program);
    program.type("sy");
    answer_key(program, "n");
    ASSERT_TRUE(says(program, "the host key is not known")) << program.grid().text();
    EXPECT_FALSE(std::filesystem::exists(known()));
    ASSERT_TRUE(program.shows("s start")) << "it is over\n" << program.grid().text();
    program.type("sy");
    answer_key(program, "t");
    ASSERT_TRUE(program.shows("after 5 steps", std::chrono::seconds(60))) << program.grid().text();
    EXPECT_TRUE(std::filesystem::exists(known()));
    program.type("q");
    EXPECT_EQ(program.wait(), 0);
}

TEST_F(TuiHosts, APassphraseIsHiddenAndAWrongOneAskedForAgain)
{
    ASSERT_EQ(
        run_program({"ssh-keygen", "-q", "-p", "-P", "", "-N", "open sesame", "-f", client_key(home_).string()}), 0);
    TerminalProgram program(command(), options(40, 120));
    choose(program);
    program.type("c");
    answer_key(program, "t");
    ASSERT_TRUE(program.shows("passphrase of ")) << program.grid().text();
    EXPECT_TRUE(program.shows("Used once, stored nowhere"));
    program.type("\033"); // nothing
    ASSERT_TRUE(program.hides("passphrase of ")) << program.grid().text();
    ASSERT_TRUE(says(program, "protected by a passphrase")) << program.grid().text();
    EXPECT_TRUE(says(program, "try again with the passphrase")) << "this is a terminal\n" << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("Esc closes")) << program.grid().text();

    program.type("c");
    ASSERT_TRUE(program.shows("Used once, stored nowhere")) << program.grid().text();
    program.type("wrong words");
    program.settle();
    EXPECT_THAT(program.grid().text(), Not(HasSubstr("wrong")));
    ASSERT_TRUE(program.shows("***********"));
    // Whoever knows that it was wrong goes on at once: no letter of that is a command of the page, or seen.
    program.type("\ro:Fopen sesame");
    ASSERT_TRUE(says(program, "That was not right.")) << "it is asked for again\n" << program.grid().text();
    program.settle();
    EXPECT_THAT(program.grid().text(), AllOf(Not(HasSubstr("sesame")), Not(HasSubstr("Find"))));
    program.type("\025open sesame"); // Ctrl+U: whatever of that came behind the second question
    program.settle();
    EXPECT_THAT(program.grid().text(), Not(HasSubstr("sesame")));
    program.type("\r");
    ASSERT_TRUE(program.shows("glibc", std::chrono::seconds(40))) << program.grid().text();
    EXPECT_THAT(program.bytes(), Not(HasSubstr("sesame")));
    program.type("\033q");
    EXPECT_EQ(program.wait(), 0);
    EXPECT_THAT(places_of("open sesame", folder_.path()), ::testing::IsEmpty());
    EXPECT_THAT(places_of("open sesame", home_.path()), ::testing::IsEmpty());
}

TEST_F(TuiHosts, AOneTimeCodeIsHiddenAndAWrongOneAskedForAgain)
{
    const CodeServer codes(client_key(home_));
    Target target = ssh_target(home_, {&server_});
    target.hosts[0].port = codes.port;
    target.hosts[0].key_file.clear();
    ASSERT_TRUE(write_file_atomically(folder_ / "config/fourfold/presets/targets/there.json", to_json(target).dump()));
    TerminalProgram program(command(), options(40, 120));
    choose(program);
    program.type("c");
    ASSERT_TRUE(program.shows("Unknown host")) << program.grid().text();
    program.type("t");
    ASSERT_TRUE(program.shows("One-time Code")) << program.grid().text();
    program.type("\033"); // no answer
    ASSERT_TRUE(says(program, "the host wants answers (a one-time code)")) << program.grid().text();
    EXPECT_TRUE(says(program, "try again")) << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("Esc closes")) << program.grid().text();

    program.type("c");
    ASSERT_TRUE(says(program, "Used once, stored nowhere")) << program.grid().text();
    program.type("000000\r");
    ASSERT_TRUE(says(program, "That was not right.")) << program.grid().text();
    EXPECT_EQ(codes.logins(), 0);
    program.type("\025" + std::string(CodeServer::kCode));
    ASSERT_TRUE(program.shows("******")) << program.grid().text();
    program.type("\r");
    ASSERT_TRUE(program.hides("******")) << program.grid().text();
    for (int i = 0; codes.logins() == 0 && i < 400; ++i)
        program.read_some(std::chrono::milliseconds(50));
    EXPECT_EQ(codes.logins(), 1);
    EXPECT_THAT(program.bytes(), AllOf(Not(HasSubstr(CodeServer::kCode)), Not(HasSubstr("000000"))));
}

TEST_F(TuiHosts, TheSearchForAClusterAsksTheSame)
{
    TerminalProgram program(command(), options(40, 120));
    ASSERT_TRUE(program.shows("Tensor (TP)"));
    program.type("4F");
    ASSERT_TRUE(program.shows("Find a cluster")) << program.grid().text();
    program.type("alias\r\r" + (home_.path() / "node").string() + "\r\r");
    answer_key(program, "n");
    ASSERT_TRUE(says(program, "the host key is not known")) << program.grid().text();
    EXPECT_FALSE(std::filesystem::exists(known()));
    program.type("\r\r\r\r");
    answer_key(program, "t");
    ASSERT_TRUE(program.shows("Save it and plan on it", std::chrono::seconds(40))) << program.grid().text();
    EXPECT_TRUE(std::filesystem::exists(known()));
}

} // namespace
} // namespace fourfold::test
