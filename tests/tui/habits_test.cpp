// SPDX-License-Identifier: GPL-3.0-or-later
// What a person makes their own: keys, columns, what is compared; names that are completed, pictures as tables.
#include "tests/tui/tui_fixture.h"

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using TuiHabits = Tui;

TEST_F(TuiHabits, KeysChangePlacesAndAreKept)
{
    {
        TerminalProgram program(fixed(), options(40, 120));
        ASSERT_TRUE(program.shows("Fits."));
        program.type("2");
        ASSERT_TRUE(program.shows("s search")) << program.grid().text();
        program.type("\x0b"
                     "change a key\r");
        ASSERT_TRUE(program.shows("Change the key of")) << program.grid().text();
        program.type("best by\r");
        ASSERT_TRUE(program.shows("Key for: Best by")) << program.grid().text();
        program.type("zz\r");
        ASSERT_TRUE(program.shows("expected one letter or sign")) << program.grid().text();
        program.type("\x15s\r");
        ASSERT_TRUE(program.shows("have changed places")) << program.grid().text();
        EXPECT_TRUE(program.shows("b search")) << program.grid().text();
        EXPECT_TRUE(program.shows("s best by ")) << "the question on the page\n" << program.grid().text();
        EXPECT_TRUE(program.shows("b searches every layout")) << program.grid().text();
        program.type("s");
        ASSERT_TRUE(program.shows("/ ")) << program.grid().text();
        EXPECT_TRUE(program.shows("Best by")) << program.grid().text();
        program.type("\033q");
        EXPECT_EQ(program.wait(), 0);
    }
    TerminalProgram again({FOURFOLD_FIXED_PLANNER}, options(40, 120));
    ASSERT_TRUE(again.shows("b search")) << again.grid().text();
    again.type("\x0b"
               "all keys as\r");
    EXPECT_TRUE(again.shows("s search")) << again.grid().text();
}

TEST_F(TuiHabits, ColumnsAreHiddenMovedAndKept)
{
    {
        TerminalProgram program(fixed(), options(40, 160));
        ASSERT_TRUE(program.shows("Fits."));
        program.type("2s");
        ASSERT_TRUE(program.shows("on the Pareto front, in ", std::chrono::seconds(40))) << program.grid().text();
        ASSERT_TRUE(program.shows("Step s ")) << program.grid().text();
        program.type("\x0b"
                     "choose the columns\r");
        ASSERT_TRUE(program.shows("Columns")) << program.grid().text();
        program.type("step s\r");
        ASSERT_TRUE(program.shows("Column Step s")) << program.grid().text();
        program.type("hide\r");
        ASSERT_TRUE(program.hides("Step s ")) << program.grid().text();
        program.type("q");
        EXPECT_EQ(program.wait(), 0);
    }
    TerminalProgram again({FOURFOLD_FIXED_PLANNER}, options(40, 160));
    ASSERT_TRUE(again.shows("s searches every layout")) << again.grid().text();
    again.type("s");
    ASSERT_TRUE(again.shows("Schedule", std::chrono::seconds(40))) << again.grid().text();
    EXPECT_THAT(again.grid().text(), Not(HasSubstr("Step s ")));
    again.type("\x0b"
               "choose the columns\r");
    ASSERT_TRUE(again.shows("hidden")) << again.grid().text();
    again.type("all as\r");
    EXPECT_TRUE(again.shows("Step s ")) << again.grid().text();
}

TEST_F(TuiHabits, NamesOfExpressionsAreCompleted)
{
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("2c");
    ASSERT_TRUE(program.shows("What must hold")) << program.grid().text();
    program.type("memory_d\t");
    ASSERT_TRUE(program.shows("memory_device_gib")) << program.grid().text();
    program.type(" < 70 and t\t");
    ASSERT_TRUE(program.shows("tps_per_gpu")) << "what may stand there\n" << program.grid().text();
    program.type("p <= 8\r");
    ASSERT_TRUE(program.shows("where memory_device_gib < 70 and tp <= 8")) << program.grid().text();
    program.type("5/gp\t");
    ASSERT_TRUE(program.shows("gpus")) << program.grid().text();
}

TEST_F(TuiHabits, AnOpenPlanIsLeftOutOfTheComparisonAndTakenInAgain)
{
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("\x14"
                 "3"); // Ctrl+T: a second one
    ASSERT_TRUE(program.shows("Others against this plan")) << program.grid().text();
    program.type("x");
    ASSERT_TRUE(program.shows("open; it stays so")) << program.grid().text();
    program.type("this plan\r");
    ASSERT_TRUE(program.hides("Others against this plan")) << program.grid().text();
    program.type("a");
    ASSERT_TRUE(program.shows("A stored run")) << program.grid().text();
    program.type("sixteen\r");
    EXPECT_TRUE(program.shows("Others against this plan")) << program.grid().text();
}

TEST_F(TuiHabits, ACellOfTheSweepIsComparedAndPicturesAreTables)
{
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("]T");
    ASSERT_TRUE(program.shows("Esc closes; e on the page writes it")) << program.grid().text();
    EXPECT_TRUE(program.shows("compute")) << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("Esc closes"));
    program.type("3m");
    ASSERT_TRUE(program.shows("Enter applies the row")) << program.grid().text();
    program.type("C");
    ASSERT_TRUE(program.shows("Added TP")) << program.grid().text();
    program.type("m");
    EXPECT_TRUE(program.shows("Others against this plan")) << program.grid().text();
}

} // namespace
} // namespace fourfold::test
