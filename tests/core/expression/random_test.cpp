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
        const double results[] = {a.second + b.second, a.second - b.second, a.second * b.second, a.second / b.second,
            std::fmod(a.second, b.second)};
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
