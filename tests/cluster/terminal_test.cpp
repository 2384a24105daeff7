// SPDX-License-Identifier: GPL-3.0-or-later
// The planner on a login node: a person's ssh on this side, `fourfold tui` in a network namespace on the other, a line
// of 1 Mbit/s between them.
#include "tests/cluster/ssh_cluster.h"
#include "tests/tui/fake_programs.h"
#include "tests/tui/terminal.h"

namespace fourfold::test {
namespace {

class TerminalOverSsh : public SshCluster {
protected:
    // `ssh -t node fourfold ARGUMENTS`
    [[nodiscard]] TerminalProgram login(const std::string& arguments)
    {
        const std::filesystem::path base = home.path() / "login";
        const std::string command = "env LC_ALL=C.UTF-8 XDG_DATA_HOME=" + (base / "data").string() + " XDG_CONFIG_HOME="
            + (base / "config").string() + " " + put_fake_programs(base / "bin").string() + " " + arguments;
        return TerminalProgram(login_command(home, *nodes[0], command), {40, 120, {}});
    }
};

TEST_F(TerminalOverSsh, WalksLosesTheLineAndComesBackToTheRun)
{
    make(1);
    ASSERT_TRUE(net->shape(1, 1.0));
    const std::filesystem::path base = home.path() / "login";
    std::filesystem::create_directories(base);
    const std::string plan = put_tiny_plan(base, 100'000, 20).string();
    {
        TerminalProgram program = login("tui " + plan);
        ASSERT_TRUE(program.shows("Tensor (TP)")) << program.bytes();
        ASSERT_TRUE(program.shows("2 \u00d7 1 \u00d7 1 \u00d7 1 = 2")) << program.grid().text();
        program.type("jjjjj-");
        ASSERT_TRUE(program.shows("1 \u00d7 1 \u00d7 1 \u00d7 2 = 2")) << program.grid().text();
        program.type("u");
        ASSERT_TRUE(program.shows("2 \u00d7 1 \u00d7 1 \u00d7 1 = 2")) << program.grid().text();
        program.resize(24, 80);
        ASSERT_TRUE(program.shows("q quit"));
        program.settle();
        EXPECT_NE(program.grid().row(23).find("q quit"), std::string::npos) << "the new size went through";
        program.type("2s");
        ASSERT_TRUE(program.shows("on the Pareto front")) << program.grid().text();
        program.type("4sy");
        ASSERT_TRUE(program.shows("Running")) << program.grid().text();
        EXPECT_GT(nodes[0]->cut_connections(), 0);
        EXPECT_NE(program.wait(), -1000) << "ssh ends with its connection";
    }
    TerminalProgram again = login("tui");
    ASSERT_TRUE(again.shows("4 Runs")) << again.bytes();
    ASSERT_TRUE(again.shows("Running")) << again.grid().text();
    ASSERT_TRUE(again.shows("d leave")) << again.grid().text();
    again.type("xy");
    ASSERT_TRUE(again.shows("Stopped")) << again.grid().text();
    again.type("q");
    EXPECT_EQ(again.wait(), 0);
    EXPECT_FALSE(again.grid().in_alternate_screen());
}

} // namespace
} // namespace fourfold::test
