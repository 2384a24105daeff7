// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures and reports that are written from a terminal.
#include "tests/tui/tui_fixture.h"

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class TuiExports : public Tui {
protected:
    // The question for a name is on the screen.
    void write(TerminalProgram& program, const std::string& name, const std::string& begin) const
    {
        const std::filesystem::path file = folder_ / name;
        ASSERT_TRUE(program.shows("Export ")) << program.grid().text();
        program.type("\x15" + file.string() + "\r");
        ASSERT_TRUE(program.shows("Wrote " + file.string())) << name << "\n" << program.grid().text();
        const Expected<std::string> text = read_text_file(file);
        ASSERT_TRUE(text) << name;
        EXPECT_THAT(*text, StartsWith(begin)) << name;
        EXPECT_GT(text->size(), 1000U) << name;
    }
};

TEST_F(TuiExports, EveryPictureOfThePlanAndItsReport)
{
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("e");
    write(program, "memory.svg", "<?xml");
    program.type("e");
    write(program, "memory.pdf", "%PDF-");
    program.type("]e");
    write(program, "time.png", "\x89PNG");
    program.type("]e");
    write(program, "timeline.pdf", "%PDF-");
    program.type("]e");
    write(program, "ranks.svg", "<?xml");
    program.type("[[[\t\tme"); // over time
    write(program, "over-time.svg", "<?xml");
    program.type("X");
    ASSERT_TRUE(program.shows("Export report")) << program.grid().text();
    program.type("\x15x.svg\r");
    ASSERT_TRUE(program.shows("the name ends in .pdf")) << program.grid().text();
    write(program, "report.pdf", "%PDF-");
    program.type("e\x15x.eps\r");
    ASSERT_TRUE(program.shows(".pdf or .png for the picture")) << program.grid().text();
}

TEST_F(TuiExports, TheFrontTheComparisonItsScalingAndTheSweep)
{
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("2s");
    ASSERT_TRUE(program.shows("on the Pareto front, in ", std::chrono::seconds(40))) << program.grid().text();
    program.type("e");
    write(program, "front.svg", "<?xml");
    program.type("pC");
    ASSERT_TRUE(program.shows("Others against")) << program.grid().text();
    program.type("e");
    write(program, "bars.svg", "<?xml");
    program.type("X");
    write(program, "comparison.pdf", "%PDF-");
    program.type("v");
    ASSERT_TRUE(program.shows("[ ] other timeline")) << program.grid().text();
    program.type("X");
    write(program, "timelines.pdf", "%PDF-");
    program.type("e");
    ASSERT_TRUE(program.shows("Export which timeline")) << program.grid().text();
    program.type("this plan\r");
    write(program, "one.trace.json", "{");
    program.type("s");
    ASSERT_TRUE(program.shows("lines: predicted")) << program.grid().text();
    ASSERT_TRUE(program.hides("Predicting")) << program.grid().text();
    program.type("e");
    write(program, "scaling.svg", "<?xml");
    program.type("m");
    ASSERT_TRUE(program.shows("Enter applies the row")) << program.grid().text();
    program.type("e");
    write(program, "sweep.svg", "<?xml");
    program.type("X");
    write(program, "sweep.pdf", "%PDF-");
}

TEST_F(TuiExports, NothingIsWrittenWhereNothingIsDrawn)
{
    TerminalProgram program(fixed(), options());
    ASSERT_TRUE(program.shows("Fits."));
    program.type("4e");
    ASSERT_TRUE(program.shows("then e writes them")) << program.grid().text();
    program.type("5e");
    ASSERT_TRUE(program.shows("Export runs")) << program.grid().text();
    program.type("\x15" + (folder_ / "none.svg").string() + "\r");
    ASSERT_TRUE(program.shows("there is nothing to draw")) << program.grid().text();
    EXPECT_FALSE(std::filesystem::exists(folder_ / "none.svg"));
}

} // namespace
} // namespace fourfold::test
