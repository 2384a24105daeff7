// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold tui` on a pseudo-terminal, driven by keys: its screens cell by cell, what it leaves behind, bad terminals.
#include "tests/tui/tui_fixture.h"

#include <csignal>
#include <sys/stat.h>

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TuiScreens : public Tui, public ::testing::WithParamInterface<ScreenSize> { };

TEST_P(TuiScreens, AreAsTheyWere)
{
    const ScreenSize size = GetParam();
    TerminalProgram program(fixed(), options(size));
    ASSERT_TRUE(program.shows("Fits.")) << program.grid().text();
    const auto shown
        = [&](const char* page) { expect_golden(std::string(page) + "-" + size.name(), Tui::shown(program, size)); };
    EXPECT_EQ(program.grid().has_colors(), size.colors);
    shown("memory");
    program.type("]");
    shown("step-time");
    program.type("]\t\t\033OC\033OC");
    shown("timeline");
    program.type("]\033OC");
    shown("ranks");
    program.type("2");
    shown("search");
    program.type("3");
    shown("compare");
    program.type("1?");
    shown("help");
    program.type("\033");
    ASSERT_TRUE(program.hides("Esc closes"));
    program.type("q");
    EXPECT_EQ(program.wait(), 0);
}
INSTANTIATE_TEST_SUITE_P(Sizes, TuiScreens, ::testing::ValuesIn(kScreenSizes), [](const auto& info) {
    return "C" + std::to_string(info.param.columns) + "x" + std::to_string(info.param.rows)
        + (info.param.colors ? "Colors" : "Plain");
});

TEST_F(Tui, AnswersAtEachKey)
{
    TerminalProgram program(fixed(), options());
    ASSERT_TRUE(program.shows("Fits."));
    ASSERT_TRUE(program.shows("2 \u00d7 1 \u00d7 2 \u00d7 4 = 16"));
    // Down from the preset to TP: sequence, cluster, GPUs, stack.
    program.type("jjjjj");
    program.type("+");
    ASSERT_TRUE(program.shows("4 \u00d7 1 \u00d7 2 \u00d7 2 = 16")) << program.grid().text();
    EXPECT_TRUE(program.shows("*p.plan.json"));
    program.type("u");
    ASSERT_TRUE(program.shows("2 \u00d7 1 \u00d7 2 \u00d7 4 = 16"));
    EXPECT_TRUE(program.shows("Taken back: Change tp"));
    EXPECT_TRUE(program.hides("*p.plan.json"));
    program.type("\x12"); // Ctrl+R
    ASSERT_TRUE(program.shows("4 \u00d7 1 \u00d7 2 \u00d7 2 = 16"));
    program.type("\x13"); // Ctrl+S
    ASSERT_TRUE(program.shows("Saved"));
    const Expected<Json> saved = read_json_file(plan());
    ASSERT_TRUE(saved);
    EXPECT_EQ((*saved)["layout"]["tp"], 4);
    EXPECT_EQ((*saved)["name"], "Sixteen");
}

TEST_F(Tui, TypesAValueAndSaysWhatIsWrongWithIt)
{
    TerminalProgram program(fixed(), options());
    ASSERT_TRUE(program.shows("Fits."));
    program.type("jjjjj\r");
    ASSERT_TRUE(program.shows("Enter takes it"));
    program.type("\x15"
                 "many\r"); // Ctrl+U
    ASSERT_TRUE(program.shows("expected")) << program.grid().text();
    program.type("\x15"
                 "3\r");
    ASSERT_TRUE(program.shows("Not valid.")) << program.grid().text();
    EXPECT_TRUE(program.shows("! uses"));
    program.type("!");
    ASSERT_TRUE(program.shows("Fits.")) << program.grid().text();
}

TEST_F(Tui, SearchesAndPutsALayoutIntoThePlan)
{
    TerminalProgram program(real({"tui", plan().string()}), options());
    ASSERT_TRUE(program.shows("GiB"));
    program.type("2s");
    ASSERT_TRUE(program.shows("on the Pareto front")) << program.grid().text();
    program.type("/tp = 8\r");
    ASSERT_TRUE(program.shows("shown: tp = 8")) << program.grid().text();
    program.type("\r");
    ASSERT_TRUE(program.shows("Applied TP 8")) << program.grid().text();
    ASSERT_TRUE(program.shows("8 \u00d7 1"));
    program.type("u");
    ASSERT_TRUE(program.shows("2 \u00d7 1 \u00d7 2 \u00d7 4 = 16"));
    // The table as a file.
    program.type("2e");
    ASSERT_TRUE(program.shows("Export layouts"));
    program.type("\x15" + (folder_ / "found.csv").string() + "\r");
    ASSERT_TRUE(program.shows("Wrote"));
    const Expected<std::string> csv = read_text_file(folder_ / "found.csv");
    ASSERT_TRUE(csv);
    EXPECT_THAT(*csv, HasSubstr("place,gpus,tp,cp,pp,dp"));
}

TEST_F(Tui, MakesAPlanFromThreeAnswers)
{
    TerminalProgram program(real({"tui", plan().string()}), options(40, 120));
    ASSERT_TRUE(program.shows("GiB"));
    program.type("N");
    ASSERT_TRUE(program.shows("A plan from three answers")) << program.grid().text();
    program.type("\x15"
                 "qwen3\r\x15"
                 "512\r\x15"
                 "dgx h100\r\r");
    ASSERT_TRUE(program.shows("may mean qwen3-")) << program.grid().text();
    program.type("\x15"
                 "llama 405b\r\r\r\r");
    ASSERT_TRUE(program.shows("Enter takes the plan")) << program.grid().text();
    EXPECT_TRUE(program.shows("tokens/s per GPU"));
    program.type("\r");
    ASSERT_TRUE(program.shows("Llama 3.1 405B on 512")) << program.grid().text();
    ASSERT_TRUE(program.shows("w saves it under a name"));
}

TEST_F(Tui, SaysWhatStandsInTheWayOfASearch)
{
    TerminalProgram program(real({"tui", plan().string()}), options());
    ASSERT_TRUE(program.shows("GiB"));
    program.type("2c");
    ASSERT_TRUE(program.shows("What must hold"));
    program.type("tpp > 1\r");
    ASSERT_TRUE(program.shows("did you mean")) << program.grid().text();
    program.type("\x15"
                 "memory_gib < 1\rs");
    ASSERT_TRUE(program.shows("Nothing found")) << program.grid().text();
}

TEST_F(Tui, LeavesTheTerminalAsItWas)
{
    for (const int number : {0, SIGTERM, SIGINT, SIGSEGV, SIGABRT, SIGUSR1, SIGALRM, SIGXCPU, SIGPWR}) {
        TerminalProgram program(fixed(), options());
        ASSERT_TRUE(program.shows("Fits."));
        EXPECT_TRUE(program.grid().in_alternate_screen());
        EXPECT_FALSE(program.echoes());
        if (number == 0)
            program.type("q");
        else
            program.send_signal(number);
        const int status = program.wait();
        const bool ends_in_order = number == 0 || number == SIGTERM || number == SIGINT;
        EXPECT_EQ(status, ends_in_order ? 0 : -number) << number;
        EXPECT_FALSE(program.grid().in_alternate_screen()) << number;
        EXPECT_TRUE(program.grid().shows_cursor()) << number;
        EXPECT_THAT(program.bytes(), HasSubstr("\033[?2004l")) << number;
    }
}

TEST_F(Tui, StopsAndGoesOn)
{
    TerminalProgram::Options options = this->options();
    options.environment["PS1"] = "ready> ";
    TerminalProgram shell({"/bin/bash", "--norc", "-i"}, options);
    ASSERT_TRUE(shell.shows("ready>"));
    shell.type(std::string(FOURFOLD_FIXED_PLANNER) + " " + plan().string() + "\n");
    ASSERT_TRUE(shell.shows("Fits."));
    shell.type("\x1a"); // Ctrl+Z
    ASSERT_TRUE(shell.shows("Stopped")) << shell.grid().text();
    EXPECT_FALSE(shell.grid().in_alternate_screen());
    shell.type("fg\n");
    ASSERT_TRUE(shell.shows("Fits."));
    EXPECT_TRUE(shell.grid().in_alternate_screen());
    shell.type("q");
    ASSERT_TRUE(shell.shows("ready>"));
    shell.type("exit\n");
    EXPECT_EQ(shell.wait(), 0);
}

TEST_F(Tui, IsResizedAtOnce)
{
    TerminalProgram program(fixed(), options());
    ASSERT_TRUE(program.shows("Fits."));
    program.resize(40, 120);
    ASSERT_TRUE(program.shows("Fits."));
    program.settle();
    EXPECT_THAT(program.grid().row(39), HasSubstr("q quit"));
    program.resize(5, 20);
    ASSERT_TRUE(program.shows("Fourfold needs")) << program.grid().text();
    program.resize(24, 80);
    ASSERT_TRUE(program.shows("Fits."));
}

TEST_F(Tui, ComesBackToTheSamePlace)
{
    {
        TerminalProgram program(fixed(), options());
        ASSERT_TRUE(program.shows("Fits."));
        program.type("jjjjj+3");
        ASSERT_TRUE(program.shows("a adds stored runs"));
        program.hang_up(); // the window is closed
        EXPECT_EQ(program.wait(), 0);
    }
    TerminalProgram again({FOURFOLD_FIXED_PLANNER}, options());
    ASSERT_TRUE(again.shows("a adds stored runs")) << again.grid().text();
    again.type("1");
    ASSERT_TRUE(again.shows("4 \u00d7 1 \u00d7 2 \u00d7 2 = 16")) << again.grid().text();
    EXPECT_TRUE(again.shows("*p.plan.json"));
}

TEST_F(Tui, AsksBeforeItWritesOverAFileThatOthersChanged)
{
    TerminalProgram program(fixed(), options());
    ASSERT_TRUE(program.shows("Fits."));
    program.type("jjjjj+");
    ASSERT_TRUE(program.shows("4 \u00d7 1 \u00d7 2 \u00d7 2 = 16"));
    std::ofstream(plan()) << std::string(kPlan).replace(std::string(kPlan).find("Sixteen"), 7, "Theirs");
    program.type("\x13");
    ASSERT_TRUE(program.shows("Changed on disk"));
    program.type("c");
    ASSERT_TRUE(program.hides("Changed on disk"));
    const Expected<Json> kept = read_json_file(plan());
    ASSERT_TRUE(kept);
    EXPECT_EQ((*kept)["name"], "Theirs");
    program.type("q");
    ASSERT_TRUE(program.shows("Unsaved changes"));
    program.type("d");
    EXPECT_EQ(program.wait(), 0);
}

TEST_F(Tui, TakesALongPasteAsALine)
{
    TerminalProgram program(fixed(), options());
    ASSERT_TRUE(program.shows("Fits."));
    program.type("2c");
    ASSERT_TRUE(program.shows("What must hold"));
    program.type("\033[200~" + std::string(10 << 20, 'x') + "\033[201~");
    ASSERT_TRUE(program.shows("was left out", std::chrono::seconds(60))) << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("What must hold"));
    program.type("1");
    EXPECT_TRUE(program.shows("Fits."));
}

// curses' own queue has room for 137 bytes; what is typed behind a paste comes after it, however much it is.
TEST_F(Tui, TakesWhatIsTypedBehindAPaste)
{
    TerminalProgram program(fixed(), options());
    ASSERT_TRUE(program.shows("Fits."));
    program.type("2c");
    ASSERT_TRUE(program.shows("What must hold"));
    std::string keys = "\033[200~pp \033[201=\033[201~== 2";
    for (int i = 0; i < 300; ++i)
        keys += "x\177";
    keys += "\033[200~ \033[201~\033OD"; // a second one, and the left arrow
    program.type(keys);
    ASSERT_TRUE(program.shows("== 2")) << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("What must hold")) << program.grid().text();
    program.send_signal(SIGTERM);
    EXPECT_EQ(program.wait(), 0);
}

TEST_F(Tui, EndsWhileKeysComeWithoutEnd)
{
    TerminalProgram program(fixed(), options());
    ASSERT_TRUE(program.shows("Fits."));
    program.type("\033[200~ a paste whose end never comes");
    program.send_signal(SIGTERM);
    EXPECT_EQ(program.wait(std::chrono::seconds(20)), 0);
}

TEST_F(Tui, ComparesTimelinesAndSweepsLayouts)
{
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("3v");
    ASSERT_TRUE(program.shows("Two timelines are needed")) << program.grid().text();
    program.type("v");
    program.type("a");
    ASSERT_TRUE(program.shows("A published measurement"));
    program.type("another plan\r");
    ASSERT_TRUE(program.shows("Add a plan"));
    program.type("this-computer\r");
    ASSERT_TRUE(program.shows("Added this-computer"));
    program.type("v");
    ASSERT_TRUE(program.shows("An average stage:")) << program.grid().text();
    program.type("m");
    ASSERT_TRUE(program.shows("Tokens/s per GPU, predicted")) << program.grid().text();
    program.type("ll\r");
    ASSERT_TRUE(program.shows("Applied the chosen cell")) << program.grid().text();
}

TEST_F(Tui, SaysInALineWhyATerminalWillNotDo)
{
    const auto refused = [&](const TerminalProgram::Options& options) {
        TerminalProgram program(fixed(), options);
        EXPECT_EQ(program.wait(), 2);
        EXPECT_THAT(program.bytes(), Not(HasSubstr("\033"))) << "nothing was sent to the terminal";
        return program.bytes();
    };
    EXPECT_THAT(refused(options(5, 20)), HasSubstr("the terminal has 20 x 5 characters"));
    TerminalProgram::Options unknown = options();
    unknown.environment["TERM"] = "no-such-terminal";
    EXPECT_THAT(refused(unknown), HasSubstr("TERM=no-such-terminal names no terminal"));
}

TEST_F(Tui, OpensWhateverSomebodyWroteIntoItsFile)
{
    const std::filesystem::path file = folder_ / "data/fourfold/tui.json";
    std::filesystem::create_directories(file.parent_path());
    const auto opens = [&] {
        TerminalProgram program(real({"tui"}), options());
        ASSERT_TRUE(program.shows("1 Plan")) << program.grid().text();
        program.type("q");
        EXPECT_EQ(program.wait(), 0) << program.grid().text();
    };
    for (const char* kept : {R"({"page": "x"})", R"({"plan": {}, "file": 5, "where": [1], "dirty": "yes"})"}) {
        std::ofstream(file) << kept;
        opens();
    }
    const std::filesystem::path pipe = folder_ / "pipe.plan.json"; // in the place of the plan that was open
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::ofstream(file) << Json{{"plan", Json::parse(kPlan)}, {"file", pipe.string()}};
    opens();
    std::filesystem::remove(file);
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0); // to write into it would be to wait for a reader
    opens();
}

TEST_F(Tui, WritesNothingWhereItWouldWaitOrTheHistoryIs)
{
    TerminalProgram program(fixed(), options(24, 160)); // a line has room for the name of any folder
    ASSERT_TRUE(program.shows("Fits."));
    program.type("jjjjj+");
    ASSERT_TRUE(program.shows("4 \u00d7 1 \u00d7 2 \u00d7 2 = 16"));
    std::filesystem::remove(plan());
    ASSERT_EQ(::mkfifo(plan().c_str(), 0600), 0);
    program.type("\x13"); // Ctrl+S
    EXPECT_TRUE(program.shows("is a pipe, expected a file")) << program.grid().text();
    const std::filesystem::path history = folder_ / "data/fourfold/history.db";
    program.type("w");
    ASSERT_TRUE(program.shows("Save plan as"));
    program.type(std::string(200, '\177') + history.string() + "\r");
    EXPECT_TRUE(program.shows("is the history")) << program.grid().text();
    EXPECT_FALSE(std::filesystem::exists(history));
    program.type("q");
    ASSERT_TRUE(program.shows("Unsaved changes"));
    program.type("d");
    EXPECT_EQ(program.wait(), 0);
}

TEST_F(Tui, ATerminalOfWildSizeIsNone)
{
    TerminalProgram program(
        {"/bin/sh", "-c", "stty rows 32767 cols 32767 && exec " FOURFOLD_FIXED_PLANNER " " + plan().string()},
        options());
    EXPECT_EQ(program.wait(), 2);
    EXPECT_THAT(program.bytes(), HasSubstr("says that it has 32767 x 32767 characters"));
}

TEST_F(Tui, TheTerminalKnowsItsSizeBetterThanTheEnvironment)
{
    TerminalProgram::Options wild = options();
    wild.environment["COLUMNS"] = "99999999";
    wild.environment["LINES"] = "-5";
    TerminalProgram program(fixed(), wild);
    ASSERT_TRUE(program.shows("Fits.")) << program.grid().text();
    program.type("q");
    EXPECT_EQ(program.wait(), 0);
}

TEST_F(Tui, OpensWithoutArgumentsOnATerminal)
{
    TerminalProgram program(real({}), options());
    ASSERT_TRUE(program.shows("1 Plan")) << program.grid().text();
    program.type("q");
    EXPECT_EQ(program.wait(), 0);
}

TEST_F(Tui, RefusesAPlanThatIsNone)
{
    TerminalProgram program(real({"tui", (folder_ / "none.plan.json").string()}), options());
    EXPECT_EQ(program.wait(), 2);
    EXPECT_FALSE(program.grid().in_alternate_screen());
    EXPECT_THAT(program.bytes(), HasSubstr("none.plan.json"));
}

// A changed figure is a few cells, not a screen.
TEST_F(Tui, SendsLittle)
{
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.settle();
    program.type("j");
    EXPECT_LT(program.settle(), 1000U);
    const std::size_t before = program.bytes().size();
    program.type("\x0c"); // Ctrl+L sends all of it
    program.settle();
    EXPECT_GT(program.bytes().size() - before, 3000U);
}

} // namespace
} // namespace fourfold::test
