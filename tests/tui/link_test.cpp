// SPDX-License-Identifier: GPL-3.0-or-later
// A terminal behind a slow line, or one that reads nothing: frames never wait in a queue, and nobody waits for ever.
#include "app/tui/terminal/flow.h"
#include "tests/tui/tui_fixture.h"

#include <csignal>
#include <thread>

namespace fourfold::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using tui::Flow;
using TuiLink = Tui;

TEST(TuiFlow, HoldsWhatIsMoreThanAWindowUntilItIsAnswered)
{
    Flow flow;
    const Flow::Time begin{};
    flow.sent(Flow::kEvery - 1);
    EXPECT_FALSE(flow.asks(begin)) << "little is not asked about";
    flow.sent(Flow::kWindow / 2);
    EXPECT_TRUE(flow.asks(begin));
    EXPECT_FALSE(flow.asks(begin)) << "once";
    EXPECT_TRUE(flow.is_ready(begin));
    flow.sent(Flow::kWindow / 2);
    EXPECT_TRUE(flow.asks(begin));
    EXPECT_FALSE(flow.is_ready(begin + 100ms));
    EXPECT_EQ(flow.patience(begin + 100ms), 400);
    flow.answered();
    EXPECT_TRUE(flow.is_ready(begin + 100ms)) << "half a window is left";
    flow.answered();
    EXPECT_FALSE(flow.has_questions());
}

TEST(TuiFlow, AsksATerminalThatIsSilentNoMoreUntilItIsHeard)
{
    Flow flow;
    const Flow::Time begin{};
    flow.sent(2 * Flow::kWindow);
    EXPECT_TRUE(flow.asks(begin));
    EXPECT_FALSE(flow.is_ready(begin + Flow::kUnheard - 1ms));
    EXPECT_TRUE(flow.is_ready(begin + Flow::kUnheard));
    flow.sent(2 * Flow::kWindow);
    EXPECT_FALSE(flow.asks(begin + 1s));
    EXPECT_TRUE(flow.is_ready(begin + 1s));
    flow.answered(); // late
    flow.sent(2 * Flow::kWindow);
    EXPECT_TRUE(flow.asks(begin + 2s));
    EXPECT_FALSE(flow.is_ready(begin + 2s + Flow::kUnheard)) << "it answers: a line that stands still is waited for";
    EXPECT_TRUE(flow.is_ready(begin + 2s + Flow::kStalled));
}

// As a key that is held, over a line that carries nothing for a while.
TEST_F(TuiLink, AHeldKeyPilesUpNoFrames)
{
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("jjjjj");
    program.settle();
    program.keep_answers(true);
    const std::size_t before = program.bytes().size();
    constexpr int kKeys = 120;
    for (int i = 0; i < kKeys; ++i) {
        program.type(i % 2 == 0 ? "+" : "-");
        while (program.read_some(8ms)) { }
    }
    program.type("+");
    program.settle(100ms);
    EXPECT_LT(program.bytes().size() - before, 3 * Flow::kWindow);
    program.keep_answers(false);
    ASSERT_TRUE(program.shows("4 \u00d7 1 \u00d7 2 \u00d7 2 = 16")) << "the last key's answer\n"
                                                                    << program.grid().text();
    program.settle();
    const std::string shown = program.grid().text();
    program.type("\x0c"); // Ctrl+L
    program.settle();
    EXPECT_EQ(program.grid().text(), shown) << "what was left out is in the frames that came";
    program.type("u"); // each key was taken
    EXPECT_TRUE(program.shows("Taken back: Change tp"));
}

TEST_F(TuiLink, ATerminalThatAnswersNothingIsWaitedForOnce)
{
    TerminalProgram program(fixed(), options(60, 200));
    program.keep_answers(true);
    ASSERT_TRUE(program.shows("Fits."));
    for (int i = 0; i < 10; ++i) {
        program.type("\x0c");
        program.settle(50ms);
    }
    program.type("jjjjj+");
    EXPECT_TRUE(program.shows("4 \u00d7 1 \u00d7 2 \u00d7 2 = 16"));
    program.type("3");
    EXPECT_TRUE(program.shows("a adds stored runs"));
    program.send_signal(SIGTERM);
    EXPECT_EQ(program.wait(), 0);
}

TEST_F(TuiLink, EndsWhereNobodyReads)
{
    TerminalProgram program(fixed(), options(60, 200));
    program.keep_answers(true);
    ASSERT_TRUE(program.shows("Fits."));
    program.settle(1s); // it knows that nothing is answered
    for (int i = 0; i < 60; ++i) {
        program.type_unread("\x0c");
        std::this_thread::sleep_for(10ms);
    }
    program.send_signal(SIGTERM);
    EXPECT_EQ(program.wait(10s, true), 0);
    EXPECT_FALSE(program.grid().in_alternate_screen());
}

TEST_F(TuiLink, AnswersAreNotLeftToTheShell)
{
    TerminalProgram::Options options = this->options(40, 120);
    options.environment["PS1"] = "ready> ";
    TerminalProgram shell({"/bin/bash", "--norc", "-i"}, options);
    ASSERT_TRUE(shell.shows("ready>"));
    shell.type(std::string(FOURFOLD_FIXED_PLANNER) + " " + plan().string() + "\n");
    ASSERT_TRUE(shell.shows("Fits."));
    shell.settle();
    for (const char* leaves : {"\x1a", "q"}) { // Ctrl+Z
        shell.keep_answers(true);
        shell.type("\x0c"); // all of the screen, and a question behind it
        shell.settle(100ms);
        shell.type(leaves);
        shell.settle(100ms);
        shell.keep_answers(false);
        ASSERT_TRUE(shell.shows("ready>"));
        shell.settle();
        EXPECT_THAT(shell.grid().text(), Not(HasSubstr("0n")));
        shell.type("fg\n");
        ASSERT_TRUE(shell.shows(*leaves == 'q' ? "no such job" : "Fits.")) << shell.grid().text();
    }
}

} // namespace
} // namespace fourfold::test
