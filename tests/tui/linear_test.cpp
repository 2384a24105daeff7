// SPDX-License-Identifier: GPL-3.0-or-later
// The planner in lines, for a screen reader: no cursor is moved, every page, question and text is read out.
#include "tests/tui/tui_fixture.h"

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TuiLinear : public Tui {
protected:
    // What lines typed into a terminal that cannot move its cursor get for an answer.
    [[nodiscard]] std::string said(const std::vector<std::string>& command, const std::string& lines) const
    {
        TerminalProgram::Options dumb = options(24, 200);
        dumb.environment["TERM"] = "dumb";
        TerminalProgram program(command, dumb);
        EXPECT_TRUE(program.shows("At ")) << program.bytes();
        program.type(lines);
        EXPECT_EQ(program.wait(), 0) << program.bytes();
        EXPECT_THAT(program.bytes(), Not(HasSubstr("\033"))) << "a line printer could show it";
        return program.bytes();
    }
};

TEST_F(TuiLinear, ReadsThePlanAndWhatAChangeChanged)
{
    const std::string text = said(fixed(), "tp 4\nctrl+s\nq\n");
    EXPECT_THAT(text, HasSubstr("Page Plan. p.plan.json"));
    EXPECT_THAT(text, HasSubstr("Tensor (TP) 2, inside one node"));
    EXPECT_THAT(text, HasSubstr("Fits. "));
    const std::string after = text.substr(text.find("ctrl+s\r"));
    EXPECT_THAT(after, HasSubstr("Tensor (TP) 4, inside one node"));
    EXPECT_THAT(after, Not(HasSubstr("Sequence 8,192"))) << "what is as it was is not read again";
    EXPECT_THAT(after, HasSubstr("Saved"));
    EXPECT_EQ((*read_json_file(plan()))["layout"]["tp"], 4);
}

TEST_F(TuiLinear, QuestionsListsAndTextsAreLines)
{
    const std::string text = said(fixed(), "tp 3\nwhy memory\ntp nonsense\nq\nx\nd\n");
    EXPECT_THAT(text, HasSubstr("Not valid."));
    EXPECT_THAT(text, HasSubstr("Derivation"));
    EXPECT_THAT(text, HasSubstr("Unsaved changes: The plan"));
    EXPECT_THAT(text, HasSubstr("d: drop them"));
}

// Words find a command of this page first, else of another one.
TEST_F(TuiLinear, ACommandOfAnotherPageIsFound)
{
    const std::string text = said(fixed(), "2\nwhy memory\n5\nwhy throughput\nq\n");
    EXPECT_THAT(text, HasSubstr("Page Search."));
    EXPECT_THAT(text, HasSubstr("Derivation\r\nmemory: ")) << text;
    EXPECT_THAT(text, Not(HasSubstr("nothing has these words"))) << text;
}

TEST_F(TuiLinear, ASearchIsReadOnceItIsThroughAndItsLayoutIsTaken)
{
    TerminalProgram::Options dumb = options(24, 200);
    dumb.environment["TERM"] = "dumb";
    TerminalProgram program(real({"tui", plan().string()}), dumb);
    ASSERT_TRUE(program.shows("At "));
    program.type("2\ns\n");
    ASSERT_TRUE(program.shows("Chosen: row 1")) << program.grid().text();
    program.type("row 2\n");
    ASSERT_TRUE(program.shows("Chosen: row 2")) << program.grid().text();
    program.type("enter\n");
    EXPECT_TRUE(program.says("Applied TP")) << program.bytes();
    program.type("q\nd\n");
    EXPECT_EQ(program.wait(), 0);
}

TEST_F(TuiLinear, WorksThroughPipesAsWellAndEndsWithItsInput)
{
    std::ofstream(folder_ / "typed") << "gpus 32\n?\nno such command\nesc\n" << std::string(9000, 'x') << "\n";
    TerminalProgram program({"/bin/sh", "-c",
                                FOURFOLD_BIN_DIR "/fourfold tui --linear " + plan().string() + " <"
                                    + (folder_ / "typed").string() + " >" + (folder_ / "said").string()},
        options());
    EXPECT_EQ(program.wait(), 0);
    const Expected<std::string> text = read_text_file(folder_ / "said");
    ASSERT_TRUE(text);
    EXPECT_THAT(*text, HasSubstr("GPUs 32"));
    EXPECT_THAT(*text, HasSubstr("Undo")) << "keys";
    EXPECT_THAT(*text, HasSubstr("nothing has these words"));
    EXPECT_THAT(*text, HasSubstr("this one was left out"));
}

// Which picture is chosen, and where one is in it.
TEST_F(TuiLinear, EveryPictureSaysWhatIsChosen)
{
    const std::string text = said(fixed(), "]\n[\ntab\ntab\nj\n]\nj\n]\nl\n]\nl\n]\nj\n]\nj\nq\n");
    EXPECT_THAT(text, HasSubstr("Picture: Memory; tab goes on to it, [ and ] change it"));
    EXPECT_THAT(text, HasSubstr("Picture: Step time; "));
    EXPECT_THAT(text, HasSubstr("Chosen: stage 1; enter tells why"));
    EXPECT_THAT(text, HasSubstr("At the picture Step time"));
    EXPECT_THAT(text, HasSubstr("Chosen: TP collectives; enter tells why"));
    EXPECT_THAT(text, HasSubstr("At the picture Timeline"));
    EXPECT_THAT(text, HasSubstr("At the picture Ranks"));
    EXPECT_THAT(text, HasSubstr("GPU 1 of node 0")) << "the rank that was gone to";
    EXPECT_THAT(text, HasSubstr("At the picture Bounds"));
    EXPECT_THAT(text, HasSubstr("; enter tells its terms"));
    EXPECT_THAT(text, HasSubstr("At the picture Budget"));
    EXPECT_THAT(text, HasSubstr("Chosen: Time ")) << "the line behind the first";
}

TEST_F(TuiLinear, MemoryOverTheStepIsReadOff)
{
    const std::string text = said(fixed(), "tab\ntab\nm\nl\nl\nq\n");
    EXPECT_THAT(text, HasSubstr("At the picture Memory"));
    EXPECT_THAT(text, HasSubstr("P0 over the step: peak "));
    EXPECT_THAT(text, HasSubstr("GiB allocated; h l read off"));
    EXPECT_THAT(text, HasSubstr(", weights ")) << "at the cursor";
}

} // namespace
} // namespace fourfold::test
