// SPDX-License-Identifier: GPL-3.0-or-later
// What the window's guide describes, done at a terminal: models of a config.json, bounds, marks, what belongs to a
// preset, files that others change, the guide itself.
#include "tests/tui/tui_fixture.h"

#include <regex>
#include <sstream>

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;
using TuiFlows = Tui;

constexpr const char* kConfig = R"({"model_type": "llama", "hidden_size": 512, "intermediate_size": 1408,
    "num_hidden_layers": 6, "num_attention_heads": 8, "num_key_value_heads": 8, "vocab_size": 32000,
    "rms_norm_eps": 1e-5, "max_position_embeddings": 8192, "tie_word_embeddings": false, "hidden_act": "silu",
    "attention_riddle": 7})";

TEST_F(TuiFlows, TakesAModelFromAConfigAndListsWhatItIgnores)
{
    std::ofstream(folder_ / "config.json") << kConfig;
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("I\x15" + (folder_ / "none.json").string() + "\r");
    ASSERT_TRUE(program.shows("none.json")) << program.grid().text();
    EXPECT_TRUE(program.shows("Esc leaves it")) << "a name that is wrong is typed again";
    program.type("\x15" + folder_.path().string() + "\r"); // the folder that has it
    ASSERT_TRUE(program.shows("What is used of")) << program.grid().text();
    EXPECT_TRUE(program.shows("ignored: attention_riddle: not known to Fourfold")) << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("What is used of"));
    EXPECT_TRUE(program.shows("Took the model of")) << program.grid().text();
    program.type("WG"); // the end of all that is to be said
    EXPECT_TRUE(program.shows("ignored: attention_riddle")) << program.grid().text();
    program.type("\033u");
    EXPECT_TRUE(program.shows("Taken back: Took the model")) << program.grid().text();
    EXPECT_TRUE(program.shows("Llama 3.1 8B"));
}

TEST_F(TuiFlows, AStartFromAConfigSaysThatItLeavesKeysOut)
{
    std::ofstream(folder_ / "config.json") << kConfig;
    TerminalProgram program(real({"tui", plan().string()}), options(40, 120));
    ASSERT_TRUE(program.shows("GiB"));
    program.type("N");
    ASSERT_TRUE(program.shows("A plan from three answers"));
    program.type("\x15" + (folder_ / "config.json").string() + "\r\x15" + "8\r\x15" + "dgx h100\r\r");
    ASSERT_TRUE(program.shows("Enter takes the plan")) << program.grid().text();
    program.type("\r");
    EXPECT_TRUE(program.shows("W lists what its config.json says in vain")) << program.grid().text();
}

TEST_F(TuiFlows, SaysWhatBoundsThePlan)
{
    TerminalProgram program(fixed(), options());
    ASSERT_TRUE(program.shows("Fits."));
    program.type("[[[\t\t");
    ASSERT_TRUE(program.shows("2 ranks over the node")) << program.grid().text();
    EXPECT_TRUE(program.shows("-bound"));
    program.type("\r");
    EXPECT_TRUE(program.shows("latency + transfer")) << program.grid().text();
}

// What the training costs is written beside its figures, and each of them opens.
TEST_F(TuiFlows, ReckonsTheWholeTraining)
{
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("[[\t\t");
    ASSERT_TRUE(program.shows("20 per parameter")) << program.grid().text();
    ASSERT_TRUE(program.shows("not known without the price")) << program.grid().text();
    program.type("jjjjjjjj\r"); // over seven figures and the tokens
    ASSERT_TRUE(program.shows("in any currency")) << program.grid().text();
    program.type("dear\r");
    ASSERT_TRUE(program.shows("found \"dear\"")) << program.grid().text();
    program.type("\177\177\177\1772.5\r");
    ASSERT_TRUE(program.hides("not known without the price")) << program.grid().text();
    program.type("kkkkk\r"); // the cost
    EXPECT_TRUE(program.shows("price of a GPU hour")) << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("price of a GPU hour")) << program.grid().text();
    program.type("u");
    EXPECT_TRUE(program.shows("not known without the price")) << program.grid().text();
}

TEST_F(TuiFlows, MarksTimesOfTheTimeline)
{
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("]]\t\tlmlllm\033"); // two bars; the second Esc would take the marks
    ASSERT_TRUE(program.shows("\u25b20.00 s")) << program.grid().text();
    ASSERT_TRUE(program.shows("1.50 s +1.50 s")) << program.grid().text();
    EXPECT_TRUE(program.shows("between the marks: forward 50.0 %, backward 33.3 %, idle 16.7 %"))
        << program.grid().text();
    program.type("\033");
    EXPECT_TRUE(program.hides("\u25b2")) << program.grid().text();
}

TEST_F(TuiFlows, ChangesWhatAPresetSays)
{
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("8.03 B parameters"));
    program.type("Emodel.layers\r");
    ASSERT_TRUE(program.shows("Layers of the model")) << program.grid().text();
    program.type("\x15"
                 "1.5\r");
    ASSERT_TRUE(program.shows("expected a whole number")) << program.grid().text();
    program.type("\x15"
                 "16\r");
    ASSERT_TRUE(program.shows("(chan")) << program.grid().text();
    ASSERT_TRUE(program.shows("4.54 B parameters")) << program.grid().text();
    program.type("Ecluster.gpu\r");
    ASSERT_TRUE(program.shows("GPU of the cluster")) << program.grid().text();
    program.type("a100-40gb-sxm\r");
    ASSERT_TRUE(program.shows("Change GPU; u takes it back")) << program.grid().text();
    program.type("uu");
    EXPECT_TRUE(program.shows("8.03 B parameters")) << program.grid().text();
    EXPECT_TRUE(program.hides("(chan")) << program.grid().text();
}

TEST_F(TuiFlows, ReadsAPlanAgainThatAnotherProgramChanged)
{
    TerminalProgram program(fixed(), options());
    ASSERT_TRUE(program.shows("2 \u00d7 1 \u00d7 2 \u00d7 4 = 16"));
    const std::string theirs = std::regex_replace(std::string(kPlan), std::regex(R"("tp": 2)"), R"("tp": 8)");
    std::ofstream(plan()) << theirs;
    ASSERT_TRUE(program.shows("8 \u00d7 1 \u00d7 2 \u00d7 1 = 16")) << program.grid().text();
    EXPECT_TRUE(program.shows("it was read again"));
    program.type("u");
    ASSERT_TRUE(program.shows("2 \u00d7 1 \u00d7 2 \u00d7 4 = 16")) << program.grid().text();
    std::ofstream(plan()) << theirs << "\n"; // now there are changes of one's own
    ASSERT_TRUE(program.shows("Ctrl+S asks which of the two stays")) << program.grid().text();
    EXPECT_TRUE(program.shows("2 \u00d7 1 \u00d7 2 \u00d7 4 = 16"));
    program.type("\x13"); // Ctrl+S
    ASSERT_TRUE(program.shows("see it beside mine")) << program.grid().text();
    program.type("b");
    ASSERT_TRUE(program.shows("8 \u00d7 1 \u00d7 2 \u00d7 1 = 16")) << program.grid().text();
    EXPECT_TRUE(program.shows("2/2"));
}

TEST_F(TuiFlows, WhatWasComparedAndOpenedIsThereAgain)
{
    const std::filesystem::path other = folder_ / "elsewhere" / "q.plan.json";
    std::filesystem::create_directories(other.parent_path());
    std::ofstream(other) << kPlan;
    {
        TerminalProgram program(fixed(), options(40, 120));
        ASSERT_TRUE(program.shows("Fits."));
        program.type("oA file...\r");
        ASSERT_TRUE(program.shows("Open plan"));
        program.type(other.string() + "\r");
        ASSERT_TRUE(program.shows("Opened q.plan.json")) << program.grid().text();
        program.type("\x17"); // Ctrl+W
        ASSERT_TRUE(program.shows("Closed")) << program.grid().text();
        program.type("3aanother plan\r");
        ASSERT_TRUE(program.shows("Add a plan"));
        program.type("this-computer\r");
        ASSERT_TRUE(program.shows("Added this-computer")) << program.grid().text();
        program.type("apublished meas\r");
        ASSERT_TRUE(program.shows("Measured table")) << program.grid().text();
        program.type("llama31_8b_4d\r");
        ASSERT_TRUE(program.shows("Row of")) << program.grid().text();
        program.type("\r");
        ASSERT_TRUE(program.shows("Added llama31_8b_4d")) << program.grid().text();
        program.type("bb");
        EXPECT_TRUE(program.shows("GiB per GPU of the fullest stage, predicted")) << program.grid().text();
        program.type("fthis-computer\r");
        EXPECT_TRUE(program.shows("Others against this-computer")) << program.grid().text();
        program.type("q");
        EXPECT_EQ(program.wait(), 0) << program.grid().text();
    }
    TerminalProgram again({FOURFOLD_FIXED_PLANNER}, options(40, 120));
    ASSERT_TRUE(again.shows("this-computer")) << again.grid().text();
    EXPECT_TRUE(again.shows("llama31_8b_4d")) << again.grid().text();
    EXPECT_TRUE(again.shows("Others against this-computer")) << again.grid().text();
    EXPECT_TRUE(again.shows("GiB per GPU of the fullest stage, predicted")) << again.grid().text();
    again.type("o");
    ASSERT_TRUE(again.shows("Open plan"));
    EXPECT_TRUE(again.shows("q.plan.json")) << again.grid().text();
}

TEST_F(TuiFlows, HasTheGuide)
{
    TerminalProgram program(fixed(), options());
    ASSERT_TRUE(program.shows("Fits."));
    program.type("2\x0buser's guide\r");
    ASSERT_TRUE(program.shows("Export, size, colours")) << program.grid().text();
    program.type("\r"); // the chapter of the page
    ASSERT_TRUE(program.shows("Choose what is best")) << program.grid().text();
    program.type("\033");
    EXPECT_TRUE(program.hides("Choose what is best"));
}

// What the chapter of the guide shows is what somebody sees who types the same.
TEST_F(TuiFlows, TheSessionsOfTheGuideAreOfToday)
{
    const Expected<std::string> guide
        = read_text_file(std::filesystem::path(FOURFOLD_TEST_DATA) / "../../resources/guide/21-terminal.md");
    ASSERT_TRUE(guide);
    const auto block_from = [&](std::size_t from) {
        const std::size_t begin = guide->find("\n```\n", from) + 5;
        return guide->substr(begin, guide->find("\n```", begin) + 1 - begin);
    };
    const std::vector<std::string> command = real({"tui", "llama-3.1-8b-tsubame4-16"});
    TerminalProgram program(command, options());
    ASSERT_TRUE(program.shows("Fits."));
    program.type("jjjjj");
    ASSERT_TRUE(program.shows("Tensor (TP) 2"));
    program.type("+");
    ASSERT_TRUE(program.shows("4 \u00d7 1 \u00d7 1 \u00d7 4 = 16"));
    program.type("]");
    ASSERT_TRUE(program.shows("TP collectives"));
    ASSERT_TRUE(program.shows("% faster)")) << program.grid().text();
    program.settle();
    EXPECT_EQ(program.grid().text(), block_from(0));

    TerminalProgram::Options dumb = options(24, 200);
    dumb.environment["TERM"] = "dumb";
    forget_session();
    TerminalProgram linear(command, dumb);
    ASSERT_TRUE(linear.shows("At ")) << linear.bytes();
    linear.type("tp 4\nq\nd\n");
    EXPECT_EQ(linear.wait(), 0);
    std::istringstream lines(block_from(guide->find("**For a screen reader**")));
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_EQ(line, "> tp 4");
    while (std::getline(lines, line))
        EXPECT_THAT(linear.bytes(), HasSubstr(line + "\r\n"));
}

} // namespace
} // namespace fourfold::test
