// SPDX-License-Identifier: GPL-3.0-or-later
// Points, spans and bars that are chosen by keys and by the mouse; names, sizes, and what the terminal itself is asked
// for: a message, a text for its clipboard.
#include "app/tui/terminal/osc.h"
#include "core/history/store.h"
#include "tests/history/history_test_support.h"
#include "tests/tui/tui_fixture.h"

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kChosen = "\u25cf"; // point of a plot

class TuiHands : public Tui {
protected:
    // Three runs of one prediction that were measured.
    void store_runs() const
    {
        const std::filesystem::path file = folder_ / "data/fourfold/history.db";
        std::filesystem::create_directories(file.parent_path());
        HistoryStore store = open_store(file);
        int number = 0;
        for (const double tps : {60.0, 100.0, 140.0}) {
            NewRun run = sample_run(std::string("01J000000000000000000000") + "0" + std::to_string(number));
            run.name = "run " + std::to_string(number++);
            must(store.create_run(run));
            std::vector<std::string> lines;
            for (int step = 1; step <= 10; ++step)
                lines.push_back(step_line(step - 1, step, tps, 3 - 0.1 * step));
            must(store.append_events(run.id, "events", lines));
            must(store.set_state(run.id, RunState::ok));
        }
    }
};

TEST_F(TuiHands, APlanIsRenamedInPlace)
{
    TerminalProgram program(fixed(), options(24, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("\033OQ"); // F2
    ASSERT_TRUE(program.shows("Name of the plan")) << program.grid().text();
    EXPECT_TRUE(program.shows("Its file keeps its own: p.plan.json"));
    EXPECT_TRUE(program.shows("Sixteen"));
    program.type("\x15  \r");
    ASSERT_TRUE(program.shows("a plan has a name")) << program.grid().text();
    program.type("\x15Of another name\r");
    ASSERT_TRUE(program.shows("Renamed to Of another name")) << program.grid().text();
    program.type("\x13"); // Ctrl+S
    ASSERT_TRUE(program.shows("Saved p.plan.json")) << program.grid().text();
    EXPECT_EQ((*read_json_file(plan()))["name"], "Of another name");
    program.type("\x14"); // Ctrl+T: a copy has no file, and is called by its name
    ASSERT_TRUE(program.shows("2/2 *Of another name, copy")) << program.grid().text();
    program.click(0, 110); // the title
    ASSERT_TRUE(program.shows("Name of the plan")) << program.grid().text();
    program.type("\x15Mine\r");
    ASSERT_TRUE(program.shows("2/2 *Mine")) << program.grid().text();
    program.type("u");
    EXPECT_TRUE(program.shows("2/2 *Of another name, copy")) << program.grid().text();
}

TEST_F(TuiHands, APointOfTheParetoPictureIsChosenByKeys)
{
    TerminalProgram program(fixed(), options()); // there is room for table or picture
    ASSERT_TRUE(program.shows("Fits."));
    program.type("2s");
    ASSERT_TRUE(program.shows("on the Pareto front, in ", std::chrono::seconds(40))) << program.grid().text();
    EXPECT_EQ(program.grid().text().find(kChosen), std::string::npos);
    program.type("F\t"); // of the front alone: thousands of points lie close
    ASSERT_TRUE(program.shows("h l point  Enter to plan")) << program.grid().text();
    ASSERT_TRUE(program.shows(kChosen)) << program.grid().text();
    EXPECT_TRUE(program.shows(" TPS/GPU, ")) << "what the point is\n" << program.grid().text();
    program.type(std::string(40, 'h')); // to the one that takes the least memory
    program.settle();
    const auto least = program.grid().place_of(kChosen);
    program.type("ll\033OC");
    program.settle();
    EXPECT_GT(program.grid().place_of(kChosen).second, least.second) << program.grid().text();
    program.type("\r");
    EXPECT_TRUE(program.shows("Applied TP ")) << program.grid().text();
}

TEST_F(TuiHands, APointOfTheParetoPictureIsChosenByTheMouse)
{
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("2s");
    ASSERT_TRUE(program.shows("on the Pareto front, in ", std::chrono::seconds(40))) << program.grid().text();
    program.type("G"); // the last row of the table has a point as well
    program.settle();
    const auto [row, column] = program.grid().place_of(kChosen);
    ASSERT_GT(row, 0) << program.grid().text();
    program.type("g");
    program.settle();
    ASSERT_NE(program.grid().place_of(kChosen), std::pair(row, column)) << program.grid().text();
    program.click(row, column);
    ASSERT_TRUE(program.shows("h l point")) << program.grid().text();
    program.settle();
    EXPECT_EQ(program.grid().place_of(kChosen), std::pair(row, column)) << program.grid().text();
    program.click(row, column);
    ASSERT_TRUE(program.shows("Applied TP ")) << program.grid().text();
    // A heading sorts, a second click turns the order round; a row is chosen, then taken.
    program.type("2");
    ASSERT_TRUE(program.shows("#\u2191")) << program.grid().text();
    const auto head = program.grid().place_of("TPS/GPU", 3);
    program.click(head.first, head.second);
    ASSERT_TRUE(program.shows("TPS/GPU\u2193")) << program.grid().text();
    program.click(head.first, head.second);
    ASSERT_TRUE(program.shows("TPS/GPU\u2191")) << program.grid().text();
    program.click(head.first + 2, 3);
    program.click(head.first + 2, 3);
    EXPECT_TRUE(program.shows("Applied TP ")) << program.grid().text();
}

TEST_F(TuiHands, ARunIsChosenAmongThePoints)
{
    store_runs();
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("5");
    ASSERT_TRUE(program.shows("3 of 3 runs")) << program.grid().text();
    program.type("\thhh");
    ASSERT_TRUE(program.shows("run 0, ")) << program.grid().text();
    EXPECT_TRUE(program.shows("measured 60.0, predicted 110 TPS/GPU (+83.3 %)")) << program.grid().text();
    program.settle();
    const auto [row, column] = program.grid().place_of(kChosen, 20);
    program.type("ll");
    ASSERT_TRUE(program.shows("run 2, ")) << program.grid().text();
    program.click(row, column);
    ASSERT_TRUE(program.shows("run 0, ")) << program.grid().text();
    program.click(row, column);
    ASSERT_TRUE(program.shows("Esc closes")) << "its facts\n" << program.grid().text();
}

TEST_F(TuiHands, CurvesAreReadOffAndLookedAtCloserByTheMouse)
{
    store_runs();
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("5   v");
    ASSERT_TRUE(program.shows("3 runs over step")) << program.grid().text();
    program.settle();
    program.click(6, 30);
    ASSERT_TRUE(program.shows("read at ")) << program.grid().text();
    program.drag(6, 20, 40);
    ASSERT_TRUE(program.shows("a part of the axis")) << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("a part of the axis")) << program.grid().text();
    program.type("\033");
    EXPECT_TRUE(program.shows("3 of 3 runs")) << program.grid().text();
}

TEST_F(TuiHands, ASpanOfTheTimelineIsMeasured)
{
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.settle();
    const auto timeline = program.grid().place_of("Timeline", 10); // of the lower half
    const int row = timeline.first + 2, left = timeline.second + 5;
    program.drag(row, left, left + 20);
    ASSERT_TRUE(program.shows(" from 0.00 s on: forward ")) << program.grid().text();
    EXPECT_TRUE(program.shows("\u2550\u2550\u2550")) << "the span on the axis\n" << program.grid().text();
    const auto axis = [&] {
        program.settle();
        return program.grid().row(row + 2); // below the two stages
    };
    program.type("z\033"); // the span alone is on show, then it goes
    ASSERT_TRUE(program.hides(" from 0.00 s on: ")) << program.grid().text();
    EXPECT_THAT(axis(), Not(HasSubstr("6.00 s")));
    program.type("f");
    EXPECT_THAT(axis(), HasSubstr("6.00 s"));
    // By keys: from the first bar on, with each that is chosen.
    program.type("lMlll");
    ASSERT_TRUE(program.shows("2.00 s from 0.00 s on: forward ")) << program.grid().text();
    program.type("M\033"); // it stays as it is, then goes
    ASSERT_TRUE(program.hides("from 0.00 s on: ")) << program.grid().text();
    program.type("\033"); // nor is a bar chosen any more
    ASSERT_TRUE(program.shows("of the time on show")) << program.grid().text();
    // A click chooses a bar, a second one opens its derivation, the wheel zooms.
    program.click(row, left + 1);
    ASSERT_TRUE(program.shows("forward of micro-batch 0 on stage 0")) << program.grid().text();
    program.click(row, left + 1);
    ASSERT_TRUE(program.shows("Derivation: ")) << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("Derivation: "));
    program.type("\033[<64;" + std::to_string(left + 1) + ";" + std::to_string(row + 1) + "M");
    EXPECT_THAT(axis(), Not(HasSubstr("6.00 s")));
}

TEST_F(TuiHands, PicturesOfThePlanTakeTheMouse)
{
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.settle();
    const auto stage = program.grid().place_of("P1");
    program.click(stage.first, stage.second);
    ASSERT_TRUE(program.shows("P1  weights")) << program.grid().text();
    program.click(stage.first, stage.second);
    ASSERT_TRUE(program.shows("Derivation: ")) << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("Derivation: "));
    program.type("]]]");
    ASSERT_TRUE(program.shows("innermost first")) << program.grid().text();
    program.settle();
    const auto order = program.grid().place_of("innermost first", 10);
    const int left = program.grid().place_of("Ranks", order.first - 1).second;
    program.click(order.first + 1, left + 6 + 2 * 3); // the fourth GPU of node 0
    EXPECT_TRUE(program.shows("GPU 3")) << program.grid().text();
}

TEST_F(TuiHands, BarsOfAComparisonSayWhatTheMemoryHolds)
{
    store_runs();
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("\x14"
                 "3"); // Ctrl+T: a second plan
    ASSERT_TRUE(program.shows("Tokens/s per GPU")) << program.grid().text();
    program.type("b");
    ASSERT_TRUE(program.shows("MFU, %")) << program.grid().text();
    program.type("b");
    ASSERT_TRUE(program.shows("GiB per GPU of the fullest stage, predicted")) << program.grid().text();
    for (const char* kind : {"Weights", "Gradients", "Optimizer", "Activations", "Buffers"})
        EXPECT_TRUE(program.shows(kind)) << program.grid().text();
    program.type("b");
    ASSERT_TRUE(program.shows("Step time by exposed parts, predicted  ")) << program.grid().text();
    EXPECT_TRUE(program.shows("TP collectives")) << program.grid().text();
}

// Two plans over each other: one micro-batch stands out in both, a mark and a span are in both.
TEST_F(TuiHands, TwoTimelinesShareWhatIsChosen)
{
    TerminalProgram::Options plain = options(40, 120);
    plain.environment["NO_COLOR"] = "1";
    TerminalProgram program(fixed(), plain);
    ASSERT_TRUE(program.shows("Fits."));
    program.type("\x14"
                 "3v");
    ASSERT_TRUE(program.shows("An average stage:")) << program.grid().text();
    program.type("l");
    ASSERT_TRUE(program.shows("forward of micro-batch 0 on stage 0")) << program.grid().text();
    program.settle();
    const std::string looks = program.grid().looks();
    const int upper = program.grid().place_of("P0").first, lower = program.grid().place_of("P0", upper + 1).first;
    const auto line = [&looks](int row) {
        std::size_t begin = 0;
        for (int i = 0; i < row; ++i)
            begin = looks.find('\n', begin) + 1;
        return looks.substr(begin, looks.find('\n', begin) - begin);
    };
    EXPECT_THAT(line(upper), HasSubstr("rr")) << "the chosen bar\n" << looks;
    EXPECT_THAT(line(lower), Not(HasSubstr("rr"))) << looks;
    EXPECT_THAT(line(lower), HasSubstr("uu")) << "its micro-batch\n" << looks;
    program.type("\033");
    program.settle();
    EXPECT_THAT(program.grid().looks(), Not(HasSubstr("uu")));
    program.type("l jj");
    ASSERT_TRUE(program.shows("\u25b2")) << program.grid().text();
    EXPECT_TRUE(program.shows("on stage 0")) << "down to the lower one's first stage\n" << program.grid().text();
    program.type("Ml");
    EXPECT_TRUE(program.shows(" on: above forward ")) << program.grid().text();
    EXPECT_TRUE(program.shows("; below ")) << program.grid().text();
    program.type("e");
    ASSERT_TRUE(program.shows("Both in one picture")) << program.grid().text();
    program.type("both\r");
    ASSERT_TRUE(program.shows("Export timelines")) << program.grid().text();
    const std::filesystem::path file = folder_ / "both.svg";
    program.type("\x15" + (folder_ / "both.csv").string() + "\r");
    ASSERT_TRUE(program.shows("the name ends in .svg, .pdf or .png")) << program.grid().text();
    program.type("\x15" + file.string() + " 900x700\r");
    ASSERT_TRUE(program.shows("Wrote ")) << program.grid().text();
    const std::string svg = must(read_text_file(file));
    EXPECT_THAT(svg, HasSubstr("viewBox=\"0 0 900 700\""));
}

TEST_F(TuiHands, APictureHasTheSizeThatIsAskedFor)
{
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    const std::filesystem::path file = folder_ / "memory.png";
    program.type("e\x15" + file.string() + " 40x900\r");
    ASSERT_TRUE(program.shows("a picture has 200 to 8192 points each way")) << program.grid().text();
    program.type("\x15" + file.string() + " 640 x 480\r");
    ASSERT_TRUE(program.shows("Wrote " + file.string())) << program.grid().text();
    const std::string png = must(read_text_file(file));
    EXPECT_EQ(png.substr(16, 8), std::string("\0\0\x02\x80\0\0\x01\xE0", 8)) << "640 x 480 pixels";
}

TEST_F(TuiHands, FiguresTablesAndCommandsGoToTheClipboard)
{
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("y");
    ASSERT_TRUE(program.shows("The figure Peak memory per GPU")) << program.grid().text();
    program.type("\r");
    ASSERT_TRUE(program.shows("was sent to the clipboard")) << program.grid().text();
    // "Peak memory" in base64
    ASSERT_TRUE(program.asks_for("52;c;UGVhayBtZW1vcn"));
    program.type("ycommand\r");
    ASSERT_TRUE(program.asks_for("52;c;Zm91cmZvbGQgcHJlZGljdC")) << "fourfold predict";
    program.type("2y");
    ASSERT_TRUE(program.asks_for("52;c;Zm91cmZvbGQgc2VhcmNo")) << "fourfold search\n" << program.grid().text();
    program.type("3ycommand\r");
    ASSERT_TRUE(program.asks_for("52;c;Zm91cmZvbGQgY29tcGFyZS")) << "fourfold compare\n" << program.grid().text();
    program.type("5y");
    ASSERT_TRUE(program.shows("There is nothing to copy yet")) << program.grid().text();
    program.type("1T"); // of what stands over the page as well
    ASSERT_TRUE(program.shows("y copies")) << program.grid().text();
    program.type("y");
    EXPECT_TRUE(program.asks_for("52;c;U3RhZ2UJ")) << "Stage, a tab";
    EXPECT_TRUE(program.shows("The text was sent")) << program.grid().text();
}

// A call of what lies in the file would not say what is on show.
TEST_F(TuiHands, APlanWithChangesHasNoCommand)
{
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("+");
    ASSERT_TRUE(program.shows("*")) << program.grid().text();
    for (const char* page : {"1", "3", "4"}) {
        program.type(page + std::string("y"));
        EXPECT_TRUE(program.hides("The command that")) << program.grid().text();
        program.type("\033");
    }
    program.type("2y");
    ASSERT_TRUE(program.shows("There is nothing to copy yet")) << program.grid().text();
}

TEST_F(TuiHands, ATerminalWithoutAClipboardIsSaid)
{
    TerminalProgram::Options console = options();
    console.environment["TERM"] = "linux";
    TerminalProgram program(fixed(), console);
    ASSERT_TRUE(program.shows("Fits."));
    program.type("yfigure\r");
    EXPECT_TRUE(program.shows("This terminal has no clipboard for programs; e writes into a file"))
        << program.grid().text();
    EXPECT_TRUE(program.grid().requests().empty());
}

TEST(TerminalRequests, AreWrappedForWhatLiesBetween)
{
    using tui::Multiplexer;
    EXPECT_EQ(tui::clipboard("a", Multiplexer::none), "\033]52;c;YQ==\a");
    EXPECT_EQ(tui::clipboard("ab", Multiplexer::tmux), "\033]52;c;YWI=\a") << "tmux takes it itself";
    EXPECT_EQ(tui::clipboard("abc", Multiplexer::screen), "\033P\033]52;c;YWJj\a\033\\");
    const std::string text(tui::kMostCopied + 10, 'x');
    EXPECT_EQ(tui::clipboard(text, Multiplexer::none).size(), 100'000U);
    const std::string pieces = tui::clipboard(text, Multiplexer::screen);
    for (std::size_t at = 0; at < pieces.size();) { // screen holds 256 bytes
        const std::size_t end = pieces.find("\033\\", at);
        ASSERT_NE(end, std::string::npos);
        EXPECT_LE(end - at, 256U);
        at = end + 2;
    }
    const std::string told = tui::notification("Run; ended", "Tiny\n\033[31m", Multiplexer::none);
    EXPECT_THAT(told, StartsWith("\033]9;Run; ended: Tiny "));
    EXPECT_THAT(told, HasSubstr("\033]777;notify;Run, ended;Tiny "));
    EXPECT_THAT(told, Not(HasSubstr("\033[31m")));
    EXPECT_THAT(tui::notification("a", "", Multiplexer::tmux), StartsWith("\033Ptmux;\033\033]9;a\a\033\\"));
}

} // namespace
} // namespace fourfold::test
