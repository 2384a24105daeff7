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

TEST_F(TuiLinear, QuestionsListsAndTextsAreLines)
{
    const std::string text = said(fixed(), "tp 3\nwhy memory\ntp nonsense\nq\nx\nd\n");
    EXPECT_THAT(text, HasSubstr("Not valid."));
    EXPECT_THAT(text, HasSubstr("Derivation"));
    EXPECT_THAT(text, HasSubstr("Unsaved changes: The plan"));
    EXPECT_THAT(text, HasSubstr("d: drop them"));
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

} // namespace
} // namespace fourfold::test
