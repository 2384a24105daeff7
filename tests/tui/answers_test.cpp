// SPDX-License-Identifier: GPL-3.0-or-later
// What stands behind a figure, and advice that is taken: the real answers, at a terminal.
#include "tests/tui/tui_fixture.h"

#include <cmath>
#include <optional>
#include <regex>
#include <sstream>

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;

class TuiAnswers : public Tui {
protected:
    // A line of a derivation as it is shown.
    struct Shown {
        std::size_t depth = 0;
        bool is_closed = false;
        std::string label, unit;
        double value = 0, rounding = 0; // in bytes or seconds; half a unit of the last digit
    };
    static std::vector<Shown> derivation(TerminalProgram& program)
    {
        static const std::regex kLine(
            "^ ?( *)(\u25be|\u25b8| ) (\\S.*?)  +(-?[0-9,]+)(\\.[0-9]*)? (GiB|MiB|s|ms|\u00b5s|ns)(  .*)?$");
        program.settle();
        std::vector<Shown> lines;
        std::istringstream rows(program.grid().text());
        for (std::string row; std::getline(rows, row);) {
            const std::string edge = "\u2502";
            const std::size_t left = row.find(edge), right = row.rfind(edge);
            std::smatch parts;
            if (left == right)
                continue;
            const std::string inside = row.substr(left + edge.size(), right - left - edge.size());
            if (!std::regex_match(inside, parts, kLine))
                continue;
            static const std::map<std::string, double> kUnits{
                {"GiB", 1024.0}, {"MiB", 1}, {"s", 1}, {"ms", 1e-3}, {"\u00b5s", 1e-6}, {"ns", 1e-9}};
            Shown line;
            line.depth = parts[1].str().size() / 2;
            line.is_closed = parts[2] == "\u25b8";
            line.label = std::regex_replace(parts[3].str(), std::regex(" +$"), "");
            const double unit = kUnits.at(parts[6]);
            line.unit = parts[6];
            line.value
                = std::atof(std::regex_replace(parts[4].str() + parts[5].str(), std::regex(","), "").c_str()) * unit;
            const int digits = parts[5].matched ? static_cast<int>(parts[5].length()) - 1 : 0;
            line.rounding = 0.5 * std::pow(10, -digits) * unit;
            lines.push_back(line);
        }
        return lines;
    }
    // Whether the lines below `parent` add up to it, as far as their digits go.
    static void expect_sum(const std::vector<Shown>& lines, std::size_t parent)
    {
        double sum = 0, rounding = lines.at(parent).rounding;
        std::size_t count = 0;
        for (std::size_t i = parent + 1; i < lines.size() && lines[i].depth > lines[parent].depth; ++i) {
            if (lines[i].depth != lines[parent].depth + 1)
                continue;
            sum += lines[i].value;
            rounding += lines[i].rounding;
            ++count;
        }
        EXPECT_GE(count, 2U) << lines[parent].label;
        EXPECT_NEAR(sum, lines[parent].value, rounding) << lines[parent].label;
        EXPECT_LT(rounding, 0.02 * std::abs(lines[parent].value)) << "the digits tell something";
    }
    // Opens a derivation that is on the screen by its key, folds all of it and unfolds the line `part`.
    static void walk(TerminalProgram& program, const std::string& figure, const std::string& part)
    {
        program.type("\r");
        ASSERT_TRUE(program.shows("Derivation: " + figure)) << program.grid().text();
        const std::vector<Shown> first = derivation(program);
        ASSERT_GE(first.size(), 3U) << program.grid().text();
        EXPECT_EQ(first[0].depth, 0U);
        EXPECT_FALSE(first[0].is_closed);
        expect_sum(first, 0);
        program.type("h");
        const std::vector<Shown> folded = derivation(program);
        ASSERT_EQ(folded.size(), 1U) << program.grid().text();
        EXPECT_TRUE(folded[0].is_closed);
        std::size_t at = 0;
        while (at < first.size() && first[at].label != part)
            ++at;
        ASSERT_LT(at, first.size()) << program.grid().text();
        program.type("l" + std::string(at, 'j') + " ");
        const std::vector<Shown> deep = derivation(program);
        ASSERT_GT(deep.size(), first.size()) << program.grid().text();
        EXPECT_EQ(deep.at(at).label, part);
        EXPECT_EQ(deep.at(at + 1).depth, deep[at].depth + 1);
        expect_sum(deep, at);
        expect_sum(deep, 0);
        program.type("\r"); // folded again
        EXPECT_EQ(derivation(program).size(), first.size()) << program.grid().text();
        program.type("\033");
        EXPECT_TRUE(program.hides("Derivation"));
    }
    // The figure in front of `unit`, such as "8,193 TPS/GPU".
    static double figure(const std::string& screen, const std::string& unit)
    {
        std::smatch found;
        if (!std::regex_search(screen, found, std::regex("([0-9][0-9,.]*) +" + unit)))
            return NAN;
        return std::atof(std::regex_replace(found[1].str(), std::regex(","), "").c_str());
    }
    struct Promise {
        std::string change; // "pp 2 -> 1, dp 4 -> 8"
        double gib = 0, faster = 0; // of device memory; per cent
    };
    static std::optional<Promise> promise(const std::string& line)
    {
        std::smatch found;
        if (!std::regex_search(line, found,
                std::regex("(?:! |faster  )\\s*(\\S.*) \\(([0-9.]+) GiB of device memory, ([0-9.]+) % faster\\)")))
            return {};
        return Promise{
            std::regex_replace(found[1].str(), std::regex("\u2192"), "->"), std::stod(found[2]), std::stod(found[3])};
    }
    // The plan that is saved has what the change says.
    void expect_changed(const std::string& change) const
    {
        const Json saved = *read_json_file(plan());
        const std::regex one("([a-z_]+) (\\S+) -> ([^, ]+)");
        int count = 0;
        for (std::sregex_iterator at(change.begin(), change.end(), one), end; at != end; ++at, ++count) {
            const std::string field = (*at)[1], value = (*at)[3];
            Json is;
            for (const char* section : {"layout", "training"}) {
                if (saved[section].contains(field))
                    is = saved[section][field];
            }
            if (is.is_null() && field == "dp") { // what is left of the GPUs
                const Json& layout = saved["layout"];
                is = saved["gpus"].get<int>() / layout.value("tp", 1) / layout.value("cp", 1) / layout.value("pp", 1);
            }
            EXPECT_EQ(is.is_string() ? is.get<std::string>() : is.dump(), value) << field << " in " << saved;
        }
        EXPECT_GE(count, 1) << change;
    }
    // `keys` take what was promised: the plan, its answer, and the way back.
    void expect_kept(TerminalProgram& program, const Promise& promised, const std::string& keys) const
    {
        const std::string before = program.grid().text();
        program.type(keys);
        ASSERT_TRUE(program.shows("Applied " + promised.change + "; u takes it back")) << program.grid().text();
        ASSERT_TRUE(program.hides("Predicting"));
        program.settle();
        const std::string after = program.grid().text();
        EXPECT_NEAR(figure(after, "of [0-9.]+ usable"), promised.gib, 0.051) << after;
        EXPECT_NEAR(100 * (figure(after, "TPS/GPU") / figure(before, "TPS/GPU") - 1), promised.faster, 0.1) << after;
        program.type("\x13"); // Ctrl+S
        ASSERT_TRUE(program.shows("Saved")) << program.grid().text();
        expect_changed(promised.change);
        program.type("u");
        ASSERT_TRUE(program.shows("Taken back: Applied " + promised.change)) << program.grid().text();
        ASSERT_TRUE(program.hides("Predicting"));
        program.settle();
        for (const char* unit : {"TPS/GPU", "of [0-9.]+ usable"})
            EXPECT_EQ(figure(program.grid().text(), unit), figure(before, unit)) << program.grid().text();
    }
};

TEST_F(TuiAnswers, ADerivationAddsUpAsItIsShown)
{
    TerminalProgram program(real({"tui", plan().string()}), options(40, 120));
    ASSERT_TRUE(program.shows("Fits. ")) << program.grid().text();
    program.type("\t");
    walk(program, "memory", "activations");
    program.type("jjj");
    walk(program, "step time", "tp");
    program.type("q");
    EXPECT_EQ(program.wait(), 0);
}

TEST_F(TuiAnswers, AdviceIsAppliedAsItWasSaid)
{
    TerminalProgram program(real({"tui", plan().string()}), options(60, 200)); // whole rows of advice
    ASSERT_TRUE(program.shows("% faster)")) << program.grid().text();
    program.settle();
    const std::optional<Promise> first = promise(program.grid().text());
    ASSERT_TRUE(first) << program.grid().text();
    expect_kept(program, *first, "!");

    // The second one, by Enter in the list.
    ASSERT_TRUE(program.shows("% faster)")) << program.grid().text();
    program.type("[\t\tj");
    ASSERT_TRUE(program.shows("Enter apply")) << program.grid().text();
    program.settle();
    std::vector<Promise> all;
    std::istringstream rows(program.grid().text());
    for (std::string row; std::getline(rows, row);) {
        if (const std::optional<Promise> one = promise(row); one && row.find("faster  ") != std::string::npos)
            all.push_back(*one);
    }
    ASSERT_GE(all.size(), 2U) << program.grid().text();
    EXPECT_NE(all[1].change, first->change);
    expect_kept(program, all[1], "\r");
    program.type("q");
    ASSERT_TRUE(program.shows("has changes that are not saved")) << program.grid().text();
    program.type("d");
    EXPECT_EQ(program.wait(), 0);
}

// As on the plan's own page: of what a search found, and of all that is compared.
TEST_F(TuiAnswers, WarningsOfFoundAndComparedLayoutsAreRead)
{
    TerminalProgram program(fixed(), options(24, 120));
    ASSERT_TRUE(program.shows("Fits. ")) << program.grid().text();
    program.type("3W");
    ASSERT_TRUE(program.shows("Warning: this answer is simple arithmetic")) << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("Esc closes"));
    program.type("2W");
    ASSERT_TRUE(program.shows("No layout is chosen")) << program.grid().text();
    program.type("s");
    ASSERT_TRUE(program.shows("on the Pareto front, in ", std::chrono::seconds(40))) << program.grid().text();
    program.type("/pp = 8\r");
    ASSERT_TRUE(program.shows("shown: pp = 8")) << program.grid().text();
    program.type("W");
    ASSERT_TRUE(program.shows("Esc closes")) << program.grid().text();
    EXPECT_TRUE(program.shows("Warning: ")) << program.grid().text();
    EXPECT_TRUE(program.shows("On the device ")) << program.grid().text();
}

// As in the window (tests/gui/mends_test.cpp): another plan on show changes nothing, one that asks something else by
// now, or is closed, is nothing to be faster than.
TEST_F(TuiAnswers, LayoutsStandBesideThePlanThatWasSearchedFrom)
{
    TerminalProgram::Options found = options(40, 120);
    found.environment["FOURFOLD_FIXED_SEARCH"] = "1";
    TerminalProgram program(fixed(), found);
    ASSERT_TRUE(program.shows("Fits. ")) << program.grid().text();
    program.type("2s");
    ASSERT_TRUE(program.shows("+9.1 %")) << program.grid().text();
    program.type("\x14"); // Ctrl+T: another plan
    ASSERT_TRUE(program.shows("2/2 *")) << program.grid().text();
    program.type("1jjjjj+");
    ASSERT_TRUE(program.shows("4 \u00d7 1 \u00d7 2 \u00d7 2 = 16")) << program.grid().text();
    program.type("2");
    EXPECT_TRUE(program.shows("+9.1 %")) << program.grid().text();
    program.type("{1kkkk+"); // its sequence
    ASSERT_TRUE(program.shows("1/2 *")) << program.grid().text();
    program.type("2");
    ASSERT_TRUE(program.shows("vs. plan")) << program.grid().text();
    EXPECT_TRUE(program.hides("+9.1 %")) << program.grid().text();
    program.type("u");
    ASSERT_TRUE(program.shows("+9.1 %")) << program.grid().text();
    program.type("\x17"); // Ctrl+W
    ASSERT_TRUE(program.shows("Closed; now ")) << program.grid().text();
    EXPECT_TRUE(program.shows("vs. plan")) << program.grid().text();
    EXPECT_TRUE(program.hides("+9.1 %")) << program.grid().text();
}

} // namespace
} // namespace fourfold::test
