// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/objective.h"
#include "tests/core/search/search_plans.h"

#include <gmock/gmock.h>

#include <cmath>

namespace fourfold {
namespace {

TEST(Objective, FieldsHaveTheirNaturalDirection)
{
    EXPECT_TRUE(objective("tps_per_gpu").maximize);
    EXPECT_TRUE(objective("mfu").maximize);
    EXPECT_FALSE(objective("step_time").maximize);
    EXPECT_FALSE(objective("cost").maximize);
    EXPECT_FALSE(objective("memory").maximize);
}

TEST(Objective, ExpressionsSayTheirs)
{
    EXPECT_TRUE(objective("max mfu / memory_gib").maximize);
    EXPECT_FALSE(objective("min step_time_s * gpus").maximize);
}

TEST(Objective, WhatIsNotKnownIsWorst)
{
    const Objective fast = objective("step_time");
    EXPECT_TRUE(fast.better(1, 2));
    EXPECT_FALSE(fast.better(2, 1));
    EXPECT_TRUE(fast.better(2, std::nan("")));
    EXPECT_FALSE(fast.better(std::nan(""), 2));
    EXPECT_FALSE(fast.better(std::nan(""), std::nan("")));
}

TEST(Objective, BadOnesPointAtTheCharacter)
{
    ExpressionError error;
    const auto unknown = parse_objective("tps", "--objective", &error);
    ASSERT_FALSE(unknown);
    EXPECT_THAT(unknown.error().line(), testing::HasSubstr("expected one of step_time"));
    const auto broken = parse_objective("min step_time_s *", "--objective", &error);
    ASSERT_FALSE(broken);
    EXPECT_EQ(error.position, 17U);
    EXPECT_FALSE(parse_objective("max dp == 2", "--objective"));
}

} // namespace
} // namespace fourfold
