// SPDX-License-Identifier: GPL-3.0-or-later
// Terminals of all kinds: without UTF-8, of few colours and of many, the Linux console, with a mouse, wide characters.
#include "app/tui/terminal/palette.h"
#include "tests/tui/tui_fixture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <stdexcept>

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using TuiTerminals = Tui;

TEST_F(TuiTerminals, ShowsPlainAsciiWhereThereIsNoUtf8)
{
    TerminalProgram::Options options = this->options();
    options.environment["LC_ALL"] = "C";
    TerminalProgram program(fixed(), options);
    ASSERT_TRUE(program.shows("Fits."));
    EXPECT_TRUE(program.shows("2 x 1 x 2 x 4 = 16"));
    for (const char byte : program.bytes())
        ASSERT_LT(static_cast<unsigned char>(byte), 128);
}

// "8.00 s > 6.00 s" would compare the two.
TEST_F(TuiTerminals, AnArrowIsNoComparisonInAscii)
{
    for (const bool linear : {false, true}) {
        TerminalProgram::Options options = this->options(40, 120);
        options.environment["LC_ALL"] = "C";
        if (linear)
            options.environment["TERM"] = "dumb";
        forget_session();
        TerminalProgram program(fixed(), options);
        ASSERT_TRUE(program.shows(linear ? "At " : "Fits.")) << program.bytes();
        program.type(linear ? "ctrl+t\ntp 4\n3\nv\n" : "\x14jjjjj+3v"); // a copy with another degree, both timelines
        ASSERT_TRUE(program.shows(" s -> ")) << program.bytes();
        EXPECT_THAT(program.grid().text(), Not(HasSubstr(" s > ")));
        for (const char byte : program.bytes())
            ASSERT_LT(static_cast<unsigned char>(byte), 128) << program.bytes();
    }
}

TEST_F(TuiTerminals, WorksWithEightColors)
{
    TerminalProgram::Options options = this->options();
    options.environment["TERM"] = "linux";
    TerminalProgram program(fixed(), options);
    ASSERT_TRUE(program.shows("Fits."));
    EXPECT_TRUE(program.grid().has_colors());
    EXPECT_TRUE(program.shows("##+====---.")) << "areas have patterns\n" << program.grid().text();
    for (const char* none :
        {"\u2589", "\u258a", "\u258b", "\u258d", "\u258e", "\u258f"}) // the console's fonts lack them
        EXPECT_THAT(program.grid().text(), Not(HasSubstr(none)));
}

// The Linux console and old terminals have no other screen to come back to: the shell goes on in an empty line, after a
// crash on an empty screen, and no pauses of the terminal's description ("$<5>") are sent as text.
TEST_F(TuiTerminals, LeavesALineForTheShellWhereThereIsOneScreen)
{
    for (const char* type : {"linux", "vt100"}) {
        for (const int number : {0, SIGSEGV}) {
            TerminalProgram::Options options = this->options();
            options.environment["TERM"] = type;
            TerminalProgram program(fixed(), options);
            ASSERT_TRUE(program.shows("q quit")) << type;
            if (number == 0)
                program.type("q");
            else
                program.send_signal(number);
            EXPECT_EQ(program.wait(), -number) << type;
            EXPECT_EQ(program.grid().row(23), "") << type << "\n" << program.grid().text();
            EXPECT_EQ(program.grid().text().find("Fits.") == std::string::npos, number != 0) << type;
            EXPECT_THAT(program.bytes(), Not(HasSubstr("$<"))) << type;
        }
    }
}

TEST_F(TuiTerminals, IsWorkedWithTheMouse)
{
    TerminalProgram program(fixed(), options());
    ASSERT_TRUE(program.shows("Fits."));
    const auto click = [&](int row, int column, int button = 0) { // as xterm tells it, from 1: down and up
        const std::string what
            = "\033[<" + std::to_string(button) + ";" + std::to_string(column + 1) + ";" + std::to_string(row + 1);
        program.type(what + "M" + (button == 0 ? what + "m" : ""));
    };
    click(9, 5); // Tensor (TP)
    ASSERT_TRUE(program.shows("Tensor (TP) 2: inside one node")) << program.grid().text();
    click(9, 5);
    ASSERT_TRUE(program.shows("Enter takes it")) << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("Enter takes it"));
    click(9, 5, 65); // the wheel, down
    ASSERT_TRUE(program.shows("Virtual stages 1")) << program.grid().text();
    click(0, 34); // 3 Compare
    ASSERT_TRUE(program.shows("a adds stored runs")) << program.grid().text();
    program.type("q");
    EXPECT_EQ(program.wait(), 0);
    EXPECT_THAT(program.bytes(), HasSubstr("\033[?1006l\033[?1002l\033[?1000l"));
}

// What stands over a page takes the mouse as well: a click chooses, a second one opens; an answer takes one.
TEST_F(TuiTerminals, ListsQuestionsTreesAndFormsTakeTheMouse)
{
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    const auto click = [&](const std::string& text, int from = 0) {
        EXPECT_TRUE(program.shows(text)) << program.grid().text();
        const auto [row, column] = program.grid().place_of(text, from);
        ASSERT_GE(row, 0) << text << "\n" << program.grid().text();
        program.click(row, column);
    };
    program.type("\x0bwhat tells"); // Ctrl+K
    click("What tells of alerts");
    click("The bell alone"); // chosen, not taken
    EXPECT_TRUE(program.shows("OSC 9 and 777")) << program.grid().text();
    click("The bell alone");
    ASSERT_TRUE(program.shows("Of alerts and ends of runs: the bell alone")) << program.grid().text();
    program.type("jjjjj+q");
    ASSERT_TRUE(program.shows("Unsaved changes")) << program.grid().text();
    click("cancel");
    ASSERT_TRUE(program.hides("Unsaved changes")) << program.grid().text();
    // The root of a tree is chosen at first: a click on it closes it.
    program.type("\t\r");
    ASSERT_TRUE(program.shows("Derivation: ")) << program.grid().text();
    ASSERT_TRUE(program.shows("\u25be")) << program.grid().text();
    click("\u25be");
    EXPECT_TRUE(program.hides("\u25be")) << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("Derivation: "));
    program.type("N");
    ASSERT_TRUE(program.shows("A plan from three answers")) << program.grid().text();
    program.settle(); // the whole form stands below its title
    const int title = program.grid().place_of("A plan from three answers").first;
    click("GPUs", title); // its line
    program.type("\x15"
                 "4321");
    EXPECT_TRUE(program.shows("GPUs      4321")) << program.grid().text();
}

TEST_F(TuiTerminals, WideCharactersKeepTheirCells)
{
    std::string text = kPlan;
    text.replace(text.find("Sixteen"), 7, "\u5b66\u7fd2\u8a08\u753b"); // a name of four wide characters
    std::ofstream(plan()) << text;
    TerminalProgram program(real({"tui", plan().string()}), options());
    ASSERT_TRUE(program.shows("GiB"));
    program.type("\x14"); // Ctrl+T: a copy, called by its name
    ASSERT_TRUE(program.shows("2/2 *\u5b66\u7fd2\u8a08\u753b, copy")) << program.grid().text();
    EXPECT_EQ(tui::width_of(program.grid().row(0)), 79) << "right at the end of the row";
    program.type("w\x15");
    ASSERT_TRUE(program.shows("Save plan as"));
    program.type("\u6f22\u5b57\u6f22\033OD\177x"); // left, and one taken back
    EXPECT_TRUE(program.shows("\u6f22x\u6f22")) << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("Save plan as"));
    program.type("\x0c");
    program.settle();
    EXPECT_EQ(tui::width_of(program.grid().row(0)), 79);
}

// Relative luminance and contrast as of WCAG 2.2.
double luminance(int rgb)
{
    const auto linear = [](int value) {
        const double share = value / 255.0;
        return share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(rgb >> 16) + 0.7152 * linear(rgb >> 8 & 255) + 0.0722 * linear(rgb & 255);
}
double contrast(int one, int other)
{
    const double a = luminance(one), b = luminance(other);
    return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

// What xterm shows for a number of its 256 colours; the first 16, which every terminal has its own of, as `first`.
int rgb_of(int number, const std::array<int, 8>& first)
{
    static constexpr std::array kSteps{0, 95, 135, 175, 215, 255};
    if (number < 8)
        return first[static_cast<std::size_t>(number)];
    if (number < 16)
        throw std::out_of_range("a bright one of 16, which is not the same colour anywhere");
    if (number >= 232)
        return (8 + 10 * (number - 232)) * 0x010101;
    const auto step = [&](int by) { return kSteps[static_cast<std::size_t>((number - 16) / by % 6)]; };
    return step(36) << 16 | step(6) << 8 | step(1);
}

constexpr std::array kXterm{0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5};
constexpr std::array kConsole{0x000000, 0xaa0000, 0x00aa00, 0xaa5500, 0x0000aa, 0xaa00aa, 0x00aaaa, 0xaaaaaa};
constexpr std::array kTango{0x000000, 0xcc0000, 0x4e9a06, 0xc4a000, 0x3465a4, 0x75507b, 0x06989a, 0xd3d7cf};

// Of few colours many are pale on one background: an area has a pattern that is told from its colour, and one of the
// two from whatever is behind; a curve has the same two the other way round.
TEST(TuiCanvas, NamesAreCutInTheirMiddle)
{
    using tui::fitted_in_middle;
    EXPECT_EQ(fitted_in_middle("torchtitan T6 001-T6-3", 30), "torchtitan T6 001-T6-3");
    EXPECT_EQ(fitted_in_middle("torchtitan T6 001-T6-3", 11), "torch\u2026-T6-3");
    EXPECT_EQ(fitted_in_middle("torchtitan T6 001-T6-3", 12), "torcht\u2026-T6-3");
    EXPECT_EQ(fitted_in_middle("\u7530\u7530\u7530\u7530\u7530", 6), "\u7530\u2026\u7530") << "two cells each";
    EXPECT_EQ(fitted_in_middle("abc", 2), "a\u2026");
    EXPECT_EQ(fitted_in_middle("abc", 0), "");
}

TEST(TuiPalette, AreasOfFewColorsAreSeenOnAnyBackground)
{
    for (const int colors : {8, 16}) {
        for (int i = static_cast<int>(tui::Ink::blue); i <= static_cast<int>(tui::Ink::purple); ++i) {
            const tui::Style style = tui::area_style(tui::Ink{static_cast<std::uint8_t>(i)});
            const tui::CellColors cell = tui::colors_of(style.ink, style.paper, colors);
            for (const std::array<int, 8>& first : {kXterm, kConsole, kTango}) {
                ASSERT_GE(cell.ink, 0);
                ASSERT_GE(cell.paper, 0);
                const int pattern = rgb_of(cell.ink, first), area = rgb_of(cell.paper, first);
                EXPECT_GE(contrast(pattern, area), 3) << "ink " << i;
                for (const int behind : {0x000000, 0xffffff})
                    EXPECT_GE(std::max(contrast(pattern, behind), contrast(area, behind)), 3) << "ink " << i;
            }
        }
    }
    EXPECT_EQ(tui::area_style(tui::Ink::grey), tui::Style{}) << "the terminal's own two";
}

// Nobody tells which background a terminal has: each ink is told from black and from white, or brings its own. Of 8 and
// of 16 colours that holds for what is read; of areas and curves see above.
TEST(TuiPalette, IsToldFromLightAndDarkBackgrounds)
{
    for (const int colors : {8, 16, 256, 1 << 24}) {
        for (int i = 0; i < static_cast<int>(tui::Ink::count); ++i) {
            const tui::Ink ink{static_cast<std::uint8_t>(i)};
            const tui::CellColors cell = tui::colors_of(ink, tui::Ink::normal, colors);
            const bool is_series = ink >= tui::Ink::blue;
            if (ink >= tui::Ink::dark)
                continue; // of areas alone
            if (ink == tui::Ink::normal || (cell.ink < 0 && cell.paper < 0) || (is_series && colors <= 16)) {
                EXPECT_LT(cell.paper, 0);
                continue;
            }
            for (const std::array<int, 8>& first : {kXterm, kConsole}) {
                const auto rgb = [&](int number) { return colors > 256 ? number : rgb_of(number, first); };
                const std::string what = std::to_string(colors) + " colours, ink " + std::to_string(i);
                if (cell.paper >= 0) {
                    EXPECT_GE(contrast(rgb(cell.ink), rgb(cell.paper)), 3) << what;
                    continue;
                }
                EXPECT_GE(contrast(rgb(cell.ink), 0x000000), 3) << what;
                EXPECT_GE(contrast(rgb(cell.ink), 0xffffff), 3) << what;
            }
        }
    }
}

// Of eight colours a verdict is black on green; white or yellow ink on the terminal's own background is nowhere.
TEST_F(TuiTerminals, WhatIsReadInEightColorsHasItsOwnBackground)
{
    TerminalProgram::Options options = this->options();
    options.environment["TERM"] = "xterm-color";
    TerminalProgram program(fixed(), options);
    ASSERT_TRUE(program.shows("Fits."));
    program.settle();
    EXPECT_THAT(program.bytes(), ::testing::ContainsRegex("30[;m][^F]*42[^F]*Fits"));
    // White is the pattern of an area, whose colour follows.
    const std::string& bytes = program.bytes();
    for (std::size_t at = bytes.find("37m"); at != std::string::npos; at = bytes.find("37m", at + 1))
        EXPECT_EQ(bytes.substr(at + 3, 3), "\033[4") << at;
}

// Sixteen and true colours are described here: the system's own list may be the short one.
TEST_F(TuiTerminals, WorksWithEveryNumberOfColors)
{
    std::ofstream(folder_ / "types") << R"(test-16|sixteen colours,
	colors#16, pairs#0x7fff,
	setaf=\E[%?%p1%{8}%<%t3%p1%d%e%p1%{82}%+%d%;m, setab=\E[%?%p1%{8}%<%t4%p1%d%e%p1%{92}%+%d%;m, use=xterm-color,
test-direct|true colours,
	RGB, colors#0x1000000, pairs#0x7ffff,
	setaf=\E[%?%p1%{8}%<%t3%p1%d%e38;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%d%;m,
	setab=\E[%?%p1%{8}%<%t4%p1%d%e48;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%d%;m, use=xterm-256color,
)";
    TerminalProgram tic(
        {"/usr/bin/tic", "-x", "-o", (folder_ / "terminfo").string(), (folder_ / "types").string()}, options());
    ASSERT_EQ(tic.wait(), 0) << tic.bytes();
    for (const char* type : {"test-16", "test-direct", "screen-256color", "tmux-256color", "vt100"}) {
        TerminalProgram::Options options = this->options();
        options.environment["TERM"] = type;
        options.environment["TERMINFO_DIRS"]
            = (folder_ / "terminfo").string() + ":/etc/terminfo:/lib/terminfo:/usr/share/terminfo";
        TerminalProgram program(fixed(), options);
        ASSERT_TRUE(program.shows("Fits.")) << type << "\n" << program.bytes();
        EXPECT_EQ(program.grid().has_colors(), std::string(type) != "vt100") << type;
        EXPECT_EQ(program.bytes().find("38;2;") != std::string::npos, std::string(type) == "test-direct") << type;
        program.type("q");
        EXPECT_EQ(program.wait(), 0) << type;
    }
}

} // namespace
} // namespace fourfold::test
