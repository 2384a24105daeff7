// SPDX-License-Identifier: GPL-3.0-or-later
// Random expressions against a second, naive reading of the same tree; random bytes must never do more than fail.
#include "tests/core/expression/example_fields.h"

#include <gtest/gtest.h>

#include <random>

namespace fourfold {
namespace {

class Generator {
public:
    explicit Generator(unsigned seed)
        : random_(seed)
    {
    }
    // Text and value of a random number, written with every pair of parentheses that its tree needs.
    std::pair<std::string, double> number(int depth)
    {
        const int choice = depth <= 0 ? pick(2) : pick(8);
        if (choice == 0) {
            const int value = pick(20);
            return {std::to_string(value), value};
        }
        if (choice == 1) {
            static const char* const kNames[] = {"tp", "dp", "heads", "mbs"};
            const int slot = pick(4);
            return {kNames[slot], values_[static_cast<std::size_t>(slot)]};
        }
        const auto a = number(depth - 1), b = number(depth - 1);
        if (choice == 2)
            return {"-(" + a.first + ")", -a.second};
        if (choice == 3)
            return {"max(" + a.first + ", " + b.first + ")",
                std::isnan(a.second) || std::isnan(b.second) ? std::nan("") : std::max(a.second, b.second)};
        static const char kSigns[] = {'+', '-', '*', '/', '%'};
        const int sign = pick(5);
        const double results[] = {a.second + b.second, a.second - b.second, a.second * b.second,
            b.second == 0 ? std::nan("") : a.second / b.second, std::fmod(a.second, b.second)};
        return {"(" + a.first + ")" + kSigns[sign] + "(" + b.first + ")", results[sign]};
    }
    std::pair<std::string, bool> truth(int depth)
    {
        if (depth <= 0 || pick(3) == 0) {
            const auto a = number(2), b = number(2);
            static const char* const kSigns[] = {"<", "<=", ">", ">="};
            const int sign = pick(4);
            const bool results[] = {a.second<b.second, a.second <= b.second, a.second> b.second, a.second >= b.second};
            return {a.first + kSigns[sign] + b.first, results[sign]};
        }
        const auto a = truth(depth - 1), b = truth(depth - 1);
        switch (pick(3)) {
        case 0:
            return {"(" + a.first + ") and (" + b.first + ")", a.second && b.second};
        case 1:
            return {"(" + a.first + ") or (" + b.first + ")", a.second || b.second};
        default:
            return {"not (" + a.first + ")", !a.second};
        }
    }
    int pick(int count) { return int(random_() % unsigned(count)); }

private:
    std::mt19937 random_;
    std::vector<double> values_ = example_values();
};

TEST(ExpressionRandom, EqualsANaiveReading)
{
    Generator generator(7);
    int holds = 0;
    for (int i = 0; i < 3000; ++i) {
        const auto [text, expected] = generator.truth(4);
        const auto expression = parse_expression(text, ValueKind::truth, example_fields(), "random");
        ASSERT_TRUE(expression) << text << ": " << expression.error().line();
        ASSERT_EQ(expression->holds(example_values()), expected) << text;
        ASSERT_EQ(expression->miss(example_values()) == 0, expected) << text;
        holds += expected ? 1 : 0;
    }
    EXPECT_GT(holds, 300);
    EXPECT_LT(holds, 2700);
}

// What is certain over ranges is so for the values within them.
TEST(ExpressionRandom, RangesHoldWhatTheirValuesGive)
{
    Generator generator(23);
    const std::vector<double> values = example_values();
    int certain = 0;
    for (int i = 0; i < 5000; ++i) {
        const auto [text, expected] = generator.truth(3);
        const auto expression = parse_expression(text, ValueKind::truth, example_fields(), "random");
        ASSERT_TRUE(expression) << text;
        std::vector<ValueRange> points, ranges;
        for (const double value : values) {
            constexpr double kInfinity = std::numeric_limits<double>::infinity();
            const double low = std::isnan(value) ? kInfinity : value, high = std::isnan(value) ? -kInfinity : value;
            points.push_back({low, high, std::isnan(value)});
            const double right = generator.pick(5) == 0 ? kInfinity : generator.pick(4);
            ranges.push_back({low - generator.pick(4), high + right, generator.pick(3) == 0 || std::isnan(value)});
        }
        for (const auto& known : {points, ranges}) {
            const Expression::Outlook outlook = expression->outlook(known);
            ASSERT_TRUE(expected ? outlook.may_hold : !outlook.must_hold) << text;
            ASSERT_EQ(outlook.may_hold, outlook.least_miss == 0) << text;
            ASSERT_LE(outlook.least_miss, expression->miss(values)) << text;
            certain += outlook.must_hold || !outlook.may_hold ? 1 : 0;
        }
        const Expression::Outlook exact = expression->outlook(points);
        ASSERT_TRUE(expected ? exact.may_hold : !exact.must_hold) << text;
    }
    EXPECT_GT(certain, 3000);
}

TEST(ExpressionRandom, RangesTellWhatCannotHold)
{
    const std::vector<ValueRange> ranges{
        {1, 8}, {1, 64}, {96, 96}, {1, 4}, {30, 60}, {0, 0, true}, {0, 2}, {0, 3}, {1, 1}};
    const auto outlook = [&](const std::string& text) {
        return parse_expression(text, ValueKind::truth, example_fields(), "ranges")->outlook(ranges);
    };
    EXPECT_EQ(outlook("tp > 16").least_miss, 8);
    EXPECT_EQ(outlook("memory_gib < 10 and dp > 1").least_miss, 20);
    EXPECT_EQ(outlook("memory_gib < 10 or tp > 10").least_miss, 2);
    EXPECT_FALSE(outlook("dp % 4 == 5").may_hold);
    EXPECT_FALSE(outlook("heads / tp < 12").may_hold);
    EXPECT_FALSE(outlook("not heads == 96").may_hold);
    EXPECT_TRUE(outlook("heads == 96 and tp <= 8").must_hold);
    EXPECT_FALSE(outlook("unknown_s >= 0").must_hold) << "it may not be known";
    EXPECT_TRUE(outlook("unknown_s >= 0").may_hold);
    EXPECT_TRUE(outlook("tp == 3 and recompute == full").may_hold);
}

TEST(ExpressionRandom, MutatedTextsParseOrFailWithAPosition)
{
    Generator generator(11);
    const std::string alphabet = "tpdh_.-+*/%()<>=!&|,'\" 0123456789e\xC3\xA9nor";
    for (int i = 0; i < 5000; ++i) {
        std::string text = generator.truth(2).first;
        for (int edits = generator.pick(4) + 1; edits > 0 && !text.empty(); --edits)
            text[std::size_t(generator.pick(int(text.size())))]
                = alphabet[std::size_t(generator.pick(int(alphabet.size())))];
        ExpressionError error;
        const auto expression = parse_expression(text, ValueKind::truth, example_fields(), "random", &error);
        if (expression) {
            (void)expression->holds(example_values());
        } else {
            ASSERT_LE(error.position + error.length, text.size()) << text;
            ASSERT_FALSE(error.message.empty()) << text;
        }
    }
}

} // namespace
} // namespace fourfold
