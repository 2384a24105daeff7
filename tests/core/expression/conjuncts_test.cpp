// SPDX-License-Identifier: GPL-3.0-or-later
// A condition taken apart says the same as the whole.
#include "core/expression/conjuncts.h"

#include "tests/core/expression/example_fields.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace fourfold {
namespace {

Expression condition(const std::string& text)
{
    return parse_expression(text, ValueKind::truth, example_fields(), "test").value();
}

std::vector<std::string> parts(const std::string& text)
{
    std::vector<std::string> texts;
    for (const Expression& part : conjuncts(condition(text), example_fields()))
        texts.push_back(part.text());
    return texts;
}

using Texts = std::vector<std::string>;

TEST(Conjuncts, AreWhatAndJoins)
{
    EXPECT_EQ(parts("tp <= 8 and memory_gib < 70"), (Texts{"tp <= 8", "memory_gib < 70"}));
    EXPECT_EQ(parts("tp <= 8 && dp % 4 == 0 AND 1 < tp"), (Texts{"tp <= 8", "dp % 4 == 0", "1 < tp"}));
    EXPECT_EQ(parts("  ((tp <= 8) and (dp > 1 and (tp > 1)))  "), (Texts{"tp <= 8", "dp > 1", "tp > 1"}));
    EXPECT_EQ(parts("recompute in (none, selective) and recompute == \"full\""),
        (Texts{"recompute in (none, selective)", "recompute == \"full\""}));
    EXPECT_EQ(parts("not tp == 8 and (tp == 1 or dp == 2)"), (Texts{"not tp == 8", "(tp == 1 or dp == 2)"}));
}

TEST(Conjuncts, LeaveAConditionWholeThatOrJoins)
{
    for (const char* text : {"tp == 8", "tp == 8 or dp == 2 and tp == 1", "tp == 8 and dp == 2 or tp == 1",
             "not (tp == 8 and dp == 2)", "(tp == 8 and dp == 2) or (tp == 1 and dp == 1)"})
        EXPECT_EQ(parts(text), Texts{text});
}

TEST(Conjuncts, HoldTogetherWhereTheWholeDoes)
{
    const char* texts[] = {"tp == 8 and dp == 12", "(tp == 8 and dp == 11)", "tp == 8 and not (dp == 12 and tp == 8)",
        "(tp + dp) * 2 == 40 and (dp == 12 and micro_batch == 2)"};
    for (const char* text : texts) {
        const std::vector<Expression> all = conjuncts(condition(text), example_fields());
        const bool together
            = std::all_of(all.begin(), all.end(), [](const Expression& one) { return one.holds(example_values()); });
        EXPECT_EQ(together, condition(text).holds(example_values())) << text;
    }
}

} // namespace
} // namespace fourfold
