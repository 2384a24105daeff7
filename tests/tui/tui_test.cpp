// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold tui` on a pseudo-terminal, driven by keys: its screens cell by cell, what it leaves behind, bad terminals.
#include "core/base/json.h"
#include "tests/temporary_folder.h"
#include "tests/tui/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kPlan = R"({
  "fourfold_plan": 1, "name": "Sixteen", "model": "llama-3.1-8b", "cluster": "dgx-h100", "gpus": 16,
  "stack": "megatron-lm", "layout": {"tp": 2, "pp": 2},
  "training": {"seq_len": 8192, "micro_batch": 1, "global_batch": 64, "schedule": "1f1b"}
})";

class Tui : public ::testing::Test {
protected:
    void SetUp() override { std::ofstream(plan()) << kPlan; }
    [[nodiscard]] std::filesystem::path plan() const { return folder_ / "p.plan.json"; }
    [[nodiscard]] TerminalProgram::Options options(int rows = 24, int columns = 80) const
    {
        return {rows, columns,
            {{"XDG_DATA_HOME", (folder_ / "data").string()}, {"XDG_CONFIG_HOME", (folder_ / "config").string()}}};
    }
    // Of the answers that no calibration changes.
    [[nodiscard]] std::vector<std::string> fixed() const { return {FOURFOLD_FIXED_PLANNER, plan().string()}; }
    [[nodiscard]] static std::vector<std::string> real(const std::vector<std::string>& arguments)
    {
        std::vector<std::string> command{FOURFOLD_BIN_DIR "/fourfold"};
        command.insert(command.end(), arguments.begin(), arguments.end());
        return command;
    }
    // Compares a screen with the file of that name, which FOURFOLD_UPDATE_GOLDEN writes.
    static void expect_golden(const std::string& name, const std::string& shown)
    {
        const std::filesystem::path file = std::filesystem::path(FOURFOLD_TEST_DATA) / "golden" / (name + ".txt");
        if (std::getenv("FOURFOLD_UPDATE_GOLDEN") != nullptr) {
            ASSERT_TRUE(write_file_atomically(file, shown));
            return;
        }
        const Expected<std::string> expected = read_text_file(file);
        ASSERT_TRUE(expected) << file;
        EXPECT_EQ(shown, *expected) << name;
    }
    TemporaryFolder folder_;
};

struct Size {
    int rows, columns;
    bool colors;
};
class TuiScreens : public Tui, public ::testing::WithParamInterface<Size> { };

TEST_P(TuiScreens, AreAsTheyWere)
{
    const auto [rows, columns, colors] = GetParam();
    TerminalProgram::Options options = this->options(rows, columns);
    if (!colors)
        options.environment["NO_COLOR"] = "1";
    TerminalProgram program(fixed(), options);
    ASSERT_TRUE(program.shows("Fits.")) << program.grid().text();
    const std::string name = std::to_string(columns) + "x" + std::to_string(rows) + (colors ? "" : "-plain");
    const auto shown = [&](const char* page) {
        program.settle();
        std::string text = program.grid().text();
        if (rows == 24)
            text += "--- looks\n" + program.grid().looks();
        expect_golden(std::string(page) + "-" + name, text);
    };
    EXPECT_EQ(program.grid().has_colors(), colors);
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
INSTANTIATE_TEST_SUITE_P(Sizes, TuiScreens,
    ::testing::Values(Size{24, 80, true}, Size{24, 80, false}, Size{40, 120, true}, Size{40, 120, false},
        Size{60, 200, true}, Size{60, 200, false}),
    [](const auto& info) {
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
    for (const int number : {0, SIGTERM, SIGINT, SIGSEGV, SIGABRT}) {
        TerminalProgram program(fixed(), options());
        ASSERT_TRUE(program.shows("Fits."));
        EXPECT_TRUE(program.grid().in_alternate_screen());
        EXPECT_FALSE(program.echoes());
        if (number == 0)
            program.type("q");
        else
            program.send_signal(number);
        const int status = program.wait();
        EXPECT_EQ(status, number == SIGSEGV || number == SIGABRT ? -number : 0) << number;
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

TEST_F(Tui, ShowsPlainAsciiWhereThereIsNoUtf8)
{
    TerminalProgram::Options options = this->options();
    options.environment["LC_ALL"] = "C";
    TerminalProgram program(fixed(), options);
    ASSERT_TRUE(program.shows("Fits."));
    EXPECT_TRUE(program.shows("2 x 1 x 2 x 4 = 16"));
    for (const char byte : program.bytes())
        ASSERT_LT(static_cast<unsigned char>(byte), 128);
}

TEST_F(Tui, WorksWithEightColors)
{
    TerminalProgram::Options options = this->options();
    options.environment["TERM"] = "linux";
    TerminalProgram program(fixed(), options);
    ASSERT_TRUE(program.shows("Fits."));
    EXPECT_TRUE(program.grid().has_colors());
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
    unknown.environment["TERM"] = "dumb";
    EXPECT_THAT(refused(unknown), HasSubstr("cannot move its cursor"));
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
    std::filesystem::remove(file);
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0); // to write into it would be to wait for a reader
    opens();
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
