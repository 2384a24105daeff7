// SPDX-License-Identifier: GPL-3.0-or-later
// What the watch of a run reports (run.watch): told to somebody who looks elsewhere, and kept on the page of runs.
#include "tests/leftover_processes.h"
#include "tests/tui/tui_fixture.h"

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;

class TuiAlerts : public Tui {
protected:
    ~TuiAlerts() override { end_processes_of(folder_.path()); }
    // Runs until it is stopped; its watch reports in steps 5 and 6.
    [[nodiscard]] std::vector<std::string> watched() const
    {
        return faked({"tui", put_tiny_plan(folder_.path(), 100'000, 20, R"(, "FAKE_ALERT_STEP": "5")").string()});
    }
};

TEST_F(TuiAlerts, AreToldOnceAMinuteAndKeptWithTimeAndRule)
{
    TerminalProgram program(watched(), options(24, 120));
    ASSERT_TRUE(program.shows("Tensor (TP)"));
    program.type("4sy5"); // starts it, and looks elsewhere
    ASSERT_TRUE(program.shows("Step 5: the loss 9 stands out; 4 shows the run")) << program.grid().text();
    ASSERT_TRUE(program.shows("4 Runs\u25cf!")) << program.grid().text();
    ASSERT_TRUE(program.asks_for("9;Step 5: the loss 9 stands out")) << "OSC 9";
    ASSERT_TRUE(program.asks_for("777;notify;Step 5: the loss 9 stands out;tiny.plan.json"));
    program.type("4");
    ASSERT_TRUE(program.shows("2 alerts (A)")) << program.grid().text();
    EXPECT_EQ(program.grid().bells(), 1) << "the second one is less than a minute behind it";
    EXPECT_TRUE(program.shows(" step 6, run.watch.spike = warn: the loss 9 stands out")) << program.grid().text();
    EXPECT_TRUE(program.hides("4 Runs\u25cf!")) << program.grid().text();
    program.type("A");
    ASSERT_TRUE(program.shows(" step 5, run.watch.spike = warn: the loss 9 stands out")) << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("Esc closes"));
    program.type("x");
    ASSERT_TRUE(program.shows("It ends on all of its nodes")) << program.grid().text();
    program.type("y");
    ASSERT_TRUE(program.shows("Stopped")) << program.grid().text();
    program.type("q");
    EXPECT_EQ(program.wait(), 0);
}

TEST_F(TuiAlerts, AreReadOut)
{
    TerminalProgram::Options dumb = options(24, 200);
    dumb.environment["TERM"] = "dumb";
    TerminalProgram program(watched(), dumb);
    program.type("4\ns\ny\n");
    ASSERT_TRUE(program.says("Step 5: the loss 9 stands out")) << program.bytes();
    program.type("\n"); // the page again
    EXPECT_TRUE(program.says(" step 5, run.watch.spike = warn: the loss 9 stands out")) << program.bytes();
    program.type("x\ny\nq\n");
    EXPECT_EQ(program.wait(), 0);
}

} // namespace
} // namespace fourfold::test
