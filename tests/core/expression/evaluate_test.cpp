// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/expression/example_fields.h"

#include <gtest/gtest.h>

namespace fourfold {
namespace {

struct Case {
    const char* text;
    double expected;
};

double value_of(const char* text, ValueKind kind)
{
    const auto expression = parse_expression(text, kind, example_fields(), "test");
    if (!expression) {
        ADD_FAILURE() << expression.error().line();
        return std::numeric_limits<double>::quiet_NaN();
    }
    return expression->value(example_values());
}

TEST(Expression, Arithmetic)
{
    const Case cases[] = {{"1 + 2 * 3", 7}, {"(1 + 2) * 3", 9}, {"7 - 2 - 1", 4}, {"64 / 4 / 2", 8}, {"-tp", -8},
        {"--tp", 8}, {"2 - -3", 5}, {"heads / tp * micro_batch % 5", 4}, {"tp-1", 7}, {"1e3", 1000}, {".5", 0.5},
        {"max(tp, dp)", 12}, {"min(3, 1, 2)", 1}, {"ceil(7 / 2) + floor(7 / 2) + round(2.4)", 9}, {"log2(tp)", 3},
        {"sqrt(16)", 4}, {"abs(tp - dp)", 4}, {"layout.tp", 8}, {"MBS", 2}, {"memory_gib", 61.5}};
    for (const Case& one : cases)
        EXPECT_DOUBLE_EQ(value_of(one.text, ValueKind::number), one.expected) << one.text;
}

TEST(Expression, Conditions)
{
    const Case cases[] = {{"dp % 4 == 0", 1}, {"DP % 4 = 0", 1}, {"dp % 5 == 0", 0},
        {"(heads / tp) * micro_batch % 4 == 0", 1}, {"8 <= tp <= 16", 1}, {"8 < tp <= 16", 0},
        {"tp == 8 and dp == 11", 0}, {"tp == 1 or dp == 12", 1}, {"not tp == 8", 0}, {"!(tp == 8) || feasible", 1},
        {"tp != 8", 0}, {"tp == 8 && dp == 12", 1}, {"recompute == full", 1}, {"recompute == \"full\"", 1},
        {"'Full' == recompute", 1}, {"recompute in (none, selective)", 0}, {"recompute not in (none, selective)", 1},
        {"tp in (2, 4 * 2)", 1}, {"schedule == zb-h1", 1}, {"schedule != zb-v", 1}, {"schedule == 1f1b", 0},
        {"feasible", 1}, {"not feasible", 0}, {"feasible == true", 1}, {"false or true and false", 0},
        {"memory_gib < 70 and feasible", 1}, {"1 == 1 == 1 or false", 1}};
    for (const Case& one : cases)
        EXPECT_EQ(value_of(one.text, ValueKind::truth), one.expected) << one.text;
}

TEST(Expression, WhatIsNotKnownMakesEveryComparisonFalse)
{
    for (const char* text : {"unknown_s < 1", "unknown_s >= 1", "unknown_s == 1", "unknown_s != 1", "tp % 0 == 0",
             "min(unknown_s, 1) < 2", "0 / 0 == 0 / 0", "tp / 0 > 1", "tp / 0 != 1"})
        EXPECT_EQ(value_of(text, ValueKind::truth), 0) << text;
}

TEST(Expression, KnowsTheFieldsThatItReads)
{
    const auto expression = parse_expression("dp % tp == 0 or dp > heads", ValueKind::truth, example_fields(), "test");
    ASSERT_TRUE(expression);
    EXPECT_EQ(expression->reads(), (std::vector<std::size_t>{0, 1, 2}));
}

// `parameters` is a count, and a kind of sharding: what stands opposite decides.
TEST(Expression, AFieldsNameThatIsAlsoAValueIsTakenAsWhatFits)
{
    const FieldSet fields({{"sharding", ValueKind::text, "", "sharding", {"none", "parameters"}},
        {"parameters", ValueKind::number, "", "parameters"}, {"order", ValueKind::text, "", "", {"sharding"}}});
    const std::vector<double> values{1, 7e9, 0};
    for (const auto& [text, expected] : {std::pair{"sharding == parameters", 1.0}, {"parameters != sharding", 0.0},
             {"sharding in (none, Parameters)", 1.0}, {"sharding == parameters and parameters > 1e9", 1.0},
             {"parameters == 7e9", 1.0}}) {
        const auto expression = parse_expression(text, ValueKind::truth, fields, "test");
        ASSERT_TRUE(expression) << expression.error().line();
        EXPECT_EQ(expression->value(values), expected) << text;
    }
    for (const char* text : {"sharding == parameters + 1", "sharding == -parameters", "sharding < parameters"})
        EXPECT_FALSE(parse_expression(text, ValueKind::truth, fields, "test")) << text;
    const auto unequal = parse_expression("order == sharding", ValueKind::truth, fields, "test");
    EXPECT_FALSE(unequal) << "both are texts: quotes say which one is meant";
    EXPECT_TRUE(parse_expression("order == 'sharding'", ValueKind::truth, fields, "test"));
}

TEST(Expression, MissSaysHowFarAConditionIs)
{
    const Case cases[] = {{"memory_gib < 70", 0}, {"memory_gib < 60", 1.5}, {"memory_gib < 60 and dp == 10", 2},
        {"memory_gib < 60 or dp == 10", 1.5}, {"tp < 8", 1}, {"tp != 8", 1}, {"recompute == none", 1},
        {"not feasible", 1}, {"dp % 5 == 0", 2}, {"8 <= tp <= 4", 4}};
    for (const Case& one : cases) {
        const auto expression = parse_expression(one.text, ValueKind::truth, example_fields(), "test");
        ASSERT_TRUE(expression) << one.text;
        EXPECT_DOUBLE_EQ(expression->miss(example_values()), one.expected) << one.text;
    }
}

TEST(Expression, CompletesTheWordBeforeTheCursor)
{
    const auto words = [](const std::string& text) { return complete_expression(text, text.size(), example_fields()); };
    EXPECT_EQ(words("tp == 8 and me").words, std::vector<std::string>{"memory_gib"});
    EXPECT_EQ(words("tp == 8 and me").begin, 12U);
    EXPECT_EQ(words("recompute == se").words, std::vector<std::string>{"selective"});
    EXPECT_EQ(words("ma").words, std::vector<std::string>{"max("});
    EXPECT_EQ(words("").words.front(), "dp");
    EXPECT_TRUE(words("xyz").words.empty());
}

} // namespace
} // namespace fourfold
