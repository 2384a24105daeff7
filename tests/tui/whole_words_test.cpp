// SPDX-License-Identifier: GPL-3.0-or-later
// What a screen says is there to its end, the keys that it names are those that it has, and what is typed into an offer
// takes its place.
#include "core/history/store.h"
#include "tests/history/history_test_support.h"
#include "tests/tui/tui_fixture.h"

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kCut = "\u2026";

class TuiWholeWords : public Tui {
protected:
    [[nodiscard]] static std::string last_row(const TerminalProgram& program, int rows)
    {
        return program.grid().row(rows - 1);
    }
    static std::string example(const char* name) { return FOURFOLD_SOURCE_DIR "/presets/plans/" + std::string(name); }
};

TEST(TuiCanvas, ThingsOfALineStayWhole)
{
    using ::testing::ElementsAre;
    EXPECT_THAT(
        tui::wrapped_items("+ - zoom  Tab pane  [ ] picture", 20), ElementsAre("+ - zoom  Tab pane", "[ ] picture"));
    EXPECT_THAT(tui::wrapped_items("a b  c", 80), ElementsAre("a b  c"));
    EXPECT_THAT(tui::wrapped_items("longer than that  x", 8), ElementsAre("longer than that", "x"));
    EXPECT_THAT(tui::wrapped_items("", 8), ElementsAre(""));
}

// The smallest usual screen has all five figures with what is said of them.
TEST_F(TuiWholeWords, FiguresOfTheSmallScreen)
{
    TerminalProgram program(real({"tui", plan().string()}), options());
    ASSERT_TRUE(program.shows("Fits.")) << program.grid().text();
    for (const char* figure : {"Memory", "Throughput", "MFU", "Step time", "Bubble"}) {
        const auto [row, column] = program.grid().place_of(std::string("\u2502 ") + figure);
        ASSERT_GE(row, 0) << figure;
        const std::string shown = program.grid().row(row);
        EXPECT_THAT(shown.substr(shown.find("\u2502")), Not(HasSubstr(kCut))) << program.grid().text();
    }
    EXPECT_TRUE(program.shows("90 %: ")) << "the range says what it is";
}

// On a large screen what a field means, and what the chosen stage holds, have room.
TEST_F(TuiWholeWords, FieldsAndStagesOfTheLargeScreen)
{
    TerminalProgram program(real({"tui", plan().string()}), options(60, 200));
    ASSERT_TRUE(program.shows("Fits.")) << program.grid().text();
    EXPECT_TRUE(program.shows("16 layers per stage")) << program.grid().text();
    EXPECT_TRUE(program.shows("NVIDIA H100 SXM5 80GB")) << program.grid().text();
    program.resize(40, 120);
    program.type("\t\t");
    ASSERT_TRUE(program.shows("j k stage")) << program.grid().text();
    for (const char* kind : {"weights", "gradients", "optimizer", "activations", "buffers"})
        EXPECT_TRUE(program.shows(std::string(kind) + " ")) << program.grid().text();
    // Of stage 0, by its figures; the bars' own words stand above.
    const auto [row, column] = program.grid().place_of("P0  weights");
    ASSERT_GE(row, 0) << program.grid().text();
    const std::string words = program.grid().row(row) + program.grid().row(row + 1) + program.grid().row(row + 2);
    EXPECT_THAT(words, HasSubstr("buffers ")) << program.grid().text();
    EXPECT_TRUE(program.shows("overlaps compute")) << program.grid().text();
}

TEST_F(TuiWholeWords, AdviceSaysWhatItBrings)
{
    TerminalProgram program(real({"tui", plan().string()}), options(40, 120));
    ASSERT_TRUE(program.shows("% faster)")) << program.grid().text();
    program.type("[\t\t");
    ASSERT_TRUE(program.shows("Enter apply")) << program.grid().text();
    program.settle();
    const auto [first, column] = program.grid().place_of("faster  ");
    ASSERT_GE(first, 0) << program.grid().text();
    for (int row = first; row < 38; ++row)
        EXPECT_THAT(program.grid().row(row), Not(HasSubstr(kCut))) << program.grid().text();
}

TEST_F(TuiWholeWords, NamesOfAList)
{
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("o");
    ASSERT_TRUE(program.shows("A file...")) << program.grid().text();
    EXPECT_TRUE(program.shows("Llama 3.1 70B, FSDP and asynchronous TP on 256 H100")) << program.grid().text();
    EXPECT_TRUE(program.shows("letters leave what has them")) << program.grid().text();
}

// A table gives what it has no other use for to what would be cut.
TEST_F(TuiWholeWords, NamesOfATable)
{
    const std::filesystem::path file = folder_ / "data/fourfold/history.db";
    std::filesystem::create_directories(file.parent_path());
    const std::string name = "a run whose name is rather longer than the usual ones, number 12";
    {
        HistoryStore store = open_store(file);
        NewRun run = sample_run("01J0000000000000000000000A");
        run.name = name;
        must(store.create_run(run));
    }
    TerminalProgram program(fixed(), options(60, 200));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("5");
    ASSERT_TRUE(program.shows("1 of 1 run")) << program.grid().text();
    EXPECT_TRUE(program.shows(name)) << program.grid().text();
    EXPECT_TRUE(program.shows("Tags")) << "its other columns are there, too";
}

// Keys of a page are none while something stands over it.
TEST_F(TuiWholeWords, TheLastLineHasTheKeysThatWork)
{
    TerminalProgram program(real({"tui", plan().string()}), options());
    ASSERT_TRUE(program.shows("Fits."));
    program.type("\t\r");
    ASSERT_TRUE(program.shows("Derivation: memory")) << program.grid().text();
    EXPECT_TRUE(program.hides("q quit")) << program.grid().text();
    EXPECT_THAT(last_row(program, 24), HasSubstr("l open  h close")) << program.grid().text();
    EXPECT_THAT(last_row(program, 24), HasSubstr("Esc"));
    program.type("\033");
    ASSERT_TRUE(program.shows("q quit")) << program.grid().text();
    program.type("]]?");
    ASSERT_TRUE(program.shows("This page"));
    program.type("\033");
    ASSERT_TRUE(program.shows("q quit"));
    program.type("\t?"); // the keys of a timeline are more than a line holds
    ASSERT_TRUE(program.shows("This page"));
    EXPECT_TRUE(program.shows("[ ] picture")) << program.grid().text();
}

// A question's answers are all there where they need two rows.
TEST_F(TuiWholeWords, AnswersOfAQuestion)
{
    TerminalProgram program(real({"tui", example("this-computer.plan.json")}), options(20, 60));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("4s");
    ASSERT_TRUE(program.shows("start it")) << program.grid().text();
    EXPECT_TRUE(program.shows("n no")) << program.grid().text();
    program.type("n");
    ASSERT_TRUE(program.hides("start it")) << program.grid().text();
}

TEST_F(TuiWholeWords, WhatIsTypedIntoAnOfferTakesItsPlace)
{
    TerminalProgram program(fixed(), options());
    ASSERT_TRUE(program.shows("Fits."));
    program.type("jjjjj\r"); // TP, which is 2
    ASSERT_TRUE(program.shows("Enter takes it"));
    program.type("4\r");
    ASSERT_TRUE(program.shows("4 \u00d7 1 \u00d7 2 \u00d7 2 = 16")) << program.grid().text();
    program.type("\r");
    ASSERT_TRUE(program.shows("Enter takes it"));
    program.type("\x05"
                 "8\r"); // Ctrl+E, the end of the line: it is edited
    ASSERT_TRUE(program.shows("Tensor (TP)    48")) << program.grid().text();
}

// All groups of the mesh are named on the smallest usual screen, too, and all that advice brings.
TEST_F(TuiWholeWords, PicturesOfTheSmallScreen)
{
    TerminalProgram program(real({"tui", example("llama-3.1-405b-torchtitan-4d-512.plan.json")}), options());
    ASSERT_TRUE(program.shows("Fits.")) << program.grid().text();
    program.type("]");
    EXPECT_TRUE(program.shows("solid: adds up to the step; \u2591 overlaps compute")) << program.grid().text();
    program.type("]]");
    EXPECT_TRUE(program.shows("\u2588 DP  \u2588 PP  \u2588 CP  \u2588 TP")) << program.grid().text();
    program.type("]]]");
    ASSERT_TRUE(program.shows("% faster)")) << program.grid().text();
    program.settle();
    const auto [first, column] = program.grid().place_of("faster  ");
    ASSERT_GE(first, 0) << program.grid().text();
    for (int row = first; row < 22; ++row)
        EXPECT_THAT(program.grid().row(row), Not(HasSubstr(kCut))) << program.grid().text();
}

// What is told apart by a colour is so by a mark as well.
TEST_F(TuiWholeWords, MarksOfAPictureNeedNoColours)
{
    TerminalProgram program(real({"tui", plan().string()}), options(ScreenSize{40, 120, false}));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("2s");
    ASSERT_TRUE(program.shows("over memory; \u25cb the Pareto front")) << program.grid().text();
    program.settle();
    EXPECT_FALSE(program.grid().has_colors());
    const auto [title, column] = program.grid().place_of("over memory; \u25cb");
    EXPECT_GT(program.grid().place_of("\u25cb", title + 1).first, title) << program.grid().text();
}

// A table is offered as what spreadsheets read.
TEST_F(TuiWholeWords, AnExportIsOfferedWithAnEndingThatItTakes)
{
    TerminalProgram program(fixed(), options());
    ASSERT_TRUE(program.shows("Fits."));
    program.type("e");
    ASSERT_TRUE(program.shows("The ending chooses the form")) << program.grid().text();
    program.type("\x01" + folder_.path().string() + "/\r");
    EXPECT_TRUE(program.shows("Wrote")) << program.grid().text();
    std::vector<std::string> written;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
        if (entry.path().extension() == ".csv")
            written.push_back(entry.path().filename().string());
    }
    EXPECT_EQ(written.size(), 1U) << "a table, under the name that was offered";
}

// The answer that will not do is the one that is typed again.
TEST_F(TuiWholeWords, AWrongAnswerHasTheCursor)
{
    TerminalProgram program(real({"tui", plan().string()}), options());
    ASSERT_TRUE(program.shows("Fits."));
    program.type("N");
    ASSERT_TRUE(program.shows("A plan from three answers"));
    // What stands in an empty field is no answer.
    EXPECT_TRUE(program.shows("for example 15T tokens, 30 days")) << program.grid().text();
    program.type("llama 8b\r"
                 "sixteen\r"
                 "dgx h100\r\r");
    ASSERT_TRUE(program.shows("is no number of GPUs: \"sixteen\"")) << program.grid().text();
    program.type("\x15"
                 "32\r\r\r");
    ASSERT_TRUE(program.shows("Enter takes the plan")) << program.grid().text();
    // All that it says, on a screen that has no room for it.
    EXPECT_TRUE(program.shows("Space reads on")) << program.grid().text();
    program.type(" ");
    ASSERT_TRUE(program.shows("Why this plan")) << program.grid().text();
    program.type("G");
    EXPECT_TRUE(program.shows("The whole training")) << program.grid().text();
    program.type("\033\r");
    ASSERT_TRUE(program.shows("\u00d7 8 = 32")) << program.grid().text();
}

// Hosts know the types of terminals of their day alone.
TEST_F(TuiWholeWords, AYoungerTerminalIsTakenForItsKin)
{
    for (const char* type : {"xterm-of-tomorrow", "kitty-of-tomorrow", "tmux-of-tomorrow"}) {
        TerminalProgram::Options options = this->options();
        options.environment["TERM"] = type;
        TerminalProgram program(fixed(), options);
        ASSERT_TRUE(program.shows("Fits.")) << type << "\n" << program.bytes();
        EXPECT_TRUE(program.shows(std::string("TERM=") + type + " is not known on this host: taken for "))
            << program.grid().text();
        EXPECT_TRUE(program.grid().has_colors());
        program.type("q");
        EXPECT_EQ(program.wait(), 0) << type;
        EXPECT_FALSE(program.grid().in_alternate_screen());
    }
}

// Who opens it for the first time is told where to begin; the next time it comes back to what was there.
TEST_F(TuiWholeWords, TheFirstStartSaysWhereToBegin)
{
    for (const bool first : {true, false}) {
        TerminalProgram program(real({}), options());
        ASSERT_TRUE(program.shows("Fits.")) << program.grid().text();
        if (first) {
            EXPECT_TRUE(program.shows("N makes a plan from three answers")) << program.grid().text();
        }
        program.type("q");
        EXPECT_EQ(program.wait(), 0);
        // All that was ever painted: a screen may be read between two of its lines.
        EXPECT_EQ(program.bytes().find("makes a plan from three answers") != std::string::npos, first);
    }
}

// Why a plan cannot run, and where that is changed.
TEST_F(TuiWholeWords, ARefusedRunNamesTheField)
{
    TerminalProgram program(fixed(), options());
    ASSERT_TRUE(program.shows("Fits."));
    program.type("4s");
    EXPECT_TRUE(program.shows("name at least one token file")) << program.grid().text();
    EXPECT_TRUE(program.shows("1 E reaches")) << program.grid().text();
}

} // namespace
} // namespace fourfold::test
