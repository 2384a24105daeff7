// SPDX-License-Identifier: GPL-3.0-or-later
// Several open plans in a terminal, and what Compare shows of them.
#include "tests/tui/tui_fixture.h"

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;

class TuiPlans : public Tui { };

TEST_F(TuiPlans, ACopyIsChangedComparedAndClosed)
{
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("}");
    ASSERT_TRUE(program.shows("One plan is open")) << program.grid().text();
    program.type("\x14"); // Ctrl+T
    ASSERT_TRUE(program.shows("2/2 *Sixteen, copy")) << program.grid().text();
    program.type("jjjjj+");
    ASSERT_TRUE(program.shows("4 \u00d7 1 \u00d7 2 \u00d7 2 = 16"));
    program.type("{");
    ASSERT_TRUE(program.shows("1/2 p.plan.json")) << program.grid().text();
    ASSERT_TRUE(program.shows("2 \u00d7 1 \u00d7 2 \u00d7 4 = 16"));
    program.type("3");
    ASSERT_TRUE(program.shows("2 Sixteen, copy")) << program.grid().text();
    program.type("x");
    ASSERT_TRUE(program.shows("open; it stays so")) << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("open; it stays so"));
    program.type("}\x17"); // Ctrl+W
    ASSERT_TRUE(program.shows("Unsaved changes")) << program.grid().text();
    program.type("c");
    ASSERT_TRUE(program.hides("Unsaved changes"));
    EXPECT_TRUE(program.shows("2/2 *Sixteen, copy"));
    program.type("\x17");
    ASSERT_TRUE(program.shows("Unsaved changes"));
    program.type("d");
    ASSERT_TRUE(program.shows("Closed; now p.plan.json")) << program.grid().text();
    program.type("\x17");
    ASSERT_TRUE(program.shows("The last plan stays"));
    program.type("q");
    EXPECT_EQ(program.wait(), 0);
}

TEST_F(TuiPlans, AnotherFileIsOpenedBesideAndAllComeBack)
{
    std::ofstream(folder_ / "other.plan.json")
        << std::string(kPlan).replace(std::string(kPlan).find("Sixteen"), 7, "Another");
    {
        TerminalProgram program(fixed(), options());
        ASSERT_TRUE(program.shows("Fits."));
        program.type("o\r"); // a file...
        ASSERT_TRUE(program.shows("Enter takes it")) << program.grid().text();
        program.type((folder_ / "other.plan.json").string() + "\r");
        ASSERT_TRUE(program.shows("2/2 other.plan.json")) << program.grid().text();
        program.type("o\r");
        ASSERT_TRUE(program.shows("Enter takes it"));
        program.type(plan().string() + "\r");
        ASSERT_TRUE(program.shows("is open already")) << program.grid().text();
        EXPECT_TRUE(program.shows("1/2 p.plan.json"));
        program.type("jjjjj+");
        ASSERT_TRUE(program.shows("1/2 *p.plan.json"));
        program.type("}");
        ASSERT_TRUE(program.shows("2/2 other.plan.json"));
        program.hang_up();
        EXPECT_EQ(program.wait(), 0);
    }
    TerminalProgram again({FOURFOLD_FIXED_PLANNER}, options());
    ASSERT_TRUE(again.shows("2/2 other.plan.json")) << again.grid().text();
    again.type("{");
    ASSERT_TRUE(again.shows("1/2 *p.plan.json")) << again.grid().text();
    ASSERT_TRUE(again.shows("4 \u00d7 1 \u00d7 2 \u00d7 2 = 16"));
    // To leave asks for each plan that would lose something.
    again.type("}q");
    ASSERT_TRUE(again.shows("The plan p.plan.json has changes")) << again.grid().text();
    again.type("d");
    EXPECT_EQ(again.wait(), 0);
    // What was given up does not come back.
    TerminalProgram third({FOURFOLD_FIXED_PLANNER}, options());
    ASSERT_TRUE(third.shows("1/2 p.plan.json")) << third.grid().text();
    ASSERT_TRUE(third.shows("2 \u00d7 1 \u00d7 2 \u00d7 4 = 16")) << third.grid().text();
    third.type("q");
    EXPECT_EQ(third.wait(), 0);
}

// It is a plan, wherever its tab is.
TEST_F(TuiPlans, TheReferenceStaysWhenAnotherPlanIsOnShow)
{
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("\x14"); // Ctrl+T
    ASSERT_TRUE(program.shows("2/2 *Sixteen, copy")) << program.grid().text();
    program.type("3");
    ASSERT_TRUE(program.shows("Others against this plan")) << program.grid().text();
    program.type("f");
    ASSERT_TRUE(program.shows("Compare with")) << program.grid().text();
    program.type("\r");
    ASSERT_TRUE(program.hides("Compare with"));
    program.type("{");
    ASSERT_TRUE(program.shows("Others against 2 Sixteen, copy")) << program.grid().text();
    program.type("}");
    ASSERT_TRUE(program.shows("Others against this plan")) << program.grid().text();
    program.type("qd");
    EXPECT_EQ(program.wait(), 0);
}

TEST_F(TuiPlans, AnUntitledPlanThatIsDroppedIsGone)
{
    {
        TerminalProgram program(fixed(), options());
        ASSERT_TRUE(program.shows("Fits."));
        program.type("\x14");
        ASSERT_TRUE(program.shows("2/2 *Sixteen, copy")) << program.grid().text();
        program.type("q");
        ASSERT_TRUE(program.shows("Unsaved changes"));
        program.type("d");
        EXPECT_EQ(program.wait(), 0);
    }
    TerminalProgram again({FOURFOLD_FIXED_PLANNER}, options());
    ASSERT_TRUE(again.shows("p.plan.json")) << again.grid().text();
    EXPECT_EQ(again.grid().text().find("1/2"), std::string::npos) << again.grid().text();
    again.type("q");
    EXPECT_EQ(again.wait(), 0);
}

TEST_F(TuiPlans, ScalingScreensAreAsTheyWere)
{
    for (const ScreenSize& size : kScreenSizes) {
        forget_session();
        TerminalProgram program(fixed(), options(size));
        ASSERT_TRUE(program.shows("Fits."));
        program.type("3s");
        ASSERT_TRUE(program.shows("4 to 256")) << program.grid().text();
        program.type("t");
        ASSERT_TRUE(program.shows("What a table measured"));
        program.type("llama31_8b_4d\r");
        ASSERT_TRUE(program.shows("series added")) << program.grid().text();
        program.type("j"); // what was told goes
        expect_golden("scaling-" + size.name(), shown(program, size));
    }
}

TEST_F(TuiPlans, MemoryOfAStageOverTheStep)
{
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("\t\tm");
    ASSERT_TRUE(program.shows("P0 over the step: peak ")) << program.grid().text();
    program.type("j");
    ASSERT_TRUE(program.shows("P1 over the step: peak ")) << program.grid().text();
    program.type("ll");
    ASSERT_TRUE(program.hides("h l read off")) << program.grid().text();
    program.type("m");
    ASSERT_TRUE(program.hides("over the step")) << program.grid().text();
}

} // namespace
} // namespace fourfold::test
