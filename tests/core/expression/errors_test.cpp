// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/expression/example_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fourfold {
namespace {

struct Bad {
    const char* text;
    std::size_t position, length;
    const char* message; // a part of it
};

TEST(ExpressionErrors, PointAtTheCharacter)
{
    const Bad cases[] = {
        {"dpp % 4 == 0", 0, 3, "unknown field \"dpp\""},
        {"tp == 8 and dq > 2", 12, 2, "unknown field \"dq\""},
        {"tp ==", 5, 0, "the text ends, expected a number"},
        {"tp == == 2", 6, 2, "found \"==\""},
        {"(tp == 2", 8, 0, "expected )"},
        {"tp == 2)", 7, 1, "expected an operator or the end"},
        {"tp", 0, 2, "this is a number, expected a condition"},
        {"tp == 2 and 3", 12, 1, "expected a condition"},
        {"tp + feasible > 2", 5, 8, "this is a condition, expected a number"},
        {"recompute == ful", 13, 3, "\"ful\" is no value of recompute"},
        {"recompute < full", 0, 16, "only numbers have an order"},
        {"memory_gib < 80GB", 13, 4, "unknown field \"80gb\""},
        {"memory_gib < 80 GB", 16, 2, "found \"gb\" behind a number"},
        {"tp == full", 6, 4, "unknown field \"full\""},
        {"recompute == schedule", 13, 8, "two different text fields"},
        {"recompute == 3", 13, 1, "this is a number, what it is compared with is a text"},
        {"tp $ 2", 3, 1, "\"$\" has no meaning"},
        {"tp == 2 \xC2\xA7", 8, 2, "has no meaning"},
        {"recompute == \"full", 13, 5, "does not end"},
        {"foo(2) == 2", 0, 3, "unknown function \"foo\""},
        {"max(2) == 2", 0, 6, "max takes 2 to 16 numbers, found 1"},
        {"abs(2, 3) == 2", 0, 9, "abs takes one number, found 2"},
        {"tp in 2", 6, 1, "expected ( and the values"},
        {"tp in (2 3)", 9, 1, "expected , or )"},
        {"1e999 == tp", 0, 5, "too large"},
        {"", 0, 0, "the text ends"},
        {"not tp", 4, 2, "expected a condition"},
        {"-feasible == 1", 1, 8, "expected a number"},
    };
    for (const Bad& one : cases) {
        ExpressionError error;
        const auto expression = parse_expression(one.text, ValueKind::truth, example_fields(), "--constraint", &error);
        ASSERT_FALSE(expression) << one.text;
        EXPECT_EQ(error.position, one.position) << one.text << ": " << error.message;
        EXPECT_EQ(error.length, one.length) << one.text << ": " << error.message;
        EXPECT_THAT(error.message, testing::HasSubstr(one.message)) << one.text;
    }
}

TEST(ExpressionErrors, TheProblemIsOneLineWithTheCharacterAndTheNearestName)
{
    const auto expression
        = parse_expression("tp == 8 and micro_bach > 2", ValueKind::truth, example_fields(), "--constraint");
    ASSERT_FALSE(expression);
    EXPECT_EQ(expression.error().line(),
        "--constraint, character 13 of \"tp == 8 and micro_bach > 2\": unknown field \"micro_bach\" (did you mean "
        "micro_batch?)");
    EXPECT_EQ(expression.error().exit_status(), 2);
}

TEST(ExpressionErrors, CharactersAreCountedNotBytes)
{
    const auto expression
        = parse_expression("recompute == \"\xC3\xA9\" and x", ValueKind::truth, example_fields(), "f");
    ASSERT_FALSE(expression);
    EXPECT_THAT(expression.error().line(), testing::HasSubstr("character 14 of"));
}

TEST(ExpressionErrors, DeepNestingAndLengthHaveLimits)
{
    const std::string deep = std::string(5000, '(') + "tp" + std::string(5000, ')') + " == 1";
    EXPECT_FALSE(parse_expression(deep, ValueKind::truth, example_fields(), "test"));
    const std::string many_signs = "tp == " + std::string(9000, '-') + "1";
    EXPECT_TRUE(parse_expression(many_signs, ValueKind::truth, example_fields(), "test"));
    const std::string long_text = "tp == " + std::string(kMaxExpressionBytes, '1');
    EXPECT_FALSE(parse_expression(long_text, ValueKind::truth, example_fields(), "test"));
    EXPECT_FALSE(parse_expression("tp == \xFF", ValueKind::truth, example_fields(), "test"));
}

} // namespace
} // namespace fourfold
