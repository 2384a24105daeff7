// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/rank.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace fourfold::test {
namespace {

std::vector<std::size_t> order(const std::vector<RankCandidate>& candidates, double tie = kTieShare)
{
    std::vector<std::size_t> out;
    for (const RankedCandidate& entry : rank_candidates(candidates, tie))
        out.push_back(entry.index);
    return out;
}

using Order = std::vector<std::size_t>;

TEST(Rank, FasterFirst)
{
    EXPECT_EQ(order({{100, 0, 40}, {300, 0, 40}, {200, 0, 40}}), (Order{1, 2, 0}));
    EXPECT_TRUE(rank_candidates({}).empty());
}

TEST(Rank, TiesShareAPlaceAndLessMemoryLeads)
{
    const auto ranked = rank_candidates({{1000, 0, 70}, {990, 0, 30}, {900, 0, 10}}, 0.02);
    EXPECT_EQ(ranked[0].index, 1U);
    EXPECT_EQ(ranked[1].index, 0U);
    EXPECT_EQ(ranked[0].place, 1);
    EXPECT_EQ(ranked[1].place, 1);
    EXPECT_EQ(ranked[2].place, 3);
}

TEST(Rank, AChainOfSmallStepsIsNotOneTie)
{
    const auto ranked = rank_candidates({{100, 0, 9}, {99, 0, 8}, {98, 0, 7}, {97, 0, 6}, {96, 0, 5}}, 0.015);
    std::vector<int> places;
    for (const RankedCandidate& entry : ranked)
        places.push_back(entry.place);
    EXPECT_EQ(places, (std::vector<int>{1, 1, 3, 3, 5}));
}

TEST(Rank, NearTheLimitIsMarkedAndBehindAnEqualOneWithRoom)
{
    const auto candidate = [](double gib) { return RankCandidate{1000, risk_of_not_fitting(gib, 80, 0.16), gib}; };
    const auto ranked = rank_candidates({candidate(78), candidate(50)});
    EXPECT_EQ(ranked[0].index, 1U);
    EXPECT_FALSE(ranked[0].at_risk);
    EXPECT_TRUE(ranked[1].at_risk);
    EXPECT_GT(ranked[1].place, 1) << "no tie: one of them may not run at all";
}

TEST(Rank, MuchFasterIsWorthASmallRisk)
{
    EXPECT_EQ(order({{1000, 0, 40}, {1500, 0.1, 70}}), (Order{1, 0}));
    EXPECT_EQ(order({{1000, 0, 40}, {1500, 0.5, 79}}), (Order{0, 1}));
}

TEST(Rank, WhatCannotRunStandsLast)
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(order({{9000, 0, 10, false}, {nan, 0, 10}, {1, 0, 10}}), (Order{2, 1, 0}));
    const auto ranked = rank_candidates({{100, nan, 10}, {100, -3, 10}});
    EXPECT_EQ(ranked[0].index, 1U);
    EXPECT_EQ(ranked[0].expected, 100);
    EXPECT_EQ(ranked[1].expected, 0);
}

TEST(Rank, EqualOnesKeepTheirOrder)
{
    EXPECT_EQ(order({{5, 0, 1}, {5, 0, 1}, {5, 0, 1}}), (Order{0, 1, 2}));
}

TEST(Risk, FollowsTheIntervalOfMemory)
{
    EXPECT_NEAR(risk_of_not_fitting(80, 80, 0.16), 0.5, 1e-12);
    // The upper end of the 90 % interval at the capacity leaves 5 % above it.
    EXPECT_NEAR(risk_of_not_fitting(80 * std::exp(-0.16), 80, 0.16), 0.05, 1e-4);
    EXPECT_NEAR(risk_of_not_fitting(80 * std::exp(0.16), 80, 0.16), 0.95, 1e-4);
    EXPECT_LT(risk_of_not_fitting(40, 80, 0.16), 1e-9);
    EXPECT_EQ(risk_of_not_fitting(0, 80, 0.16), 0);
    EXPECT_EQ(risk_of_not_fitting(10, 0, 0.16), 1);
    EXPECT_EQ(risk_of_not_fitting(std::numeric_limits<double>::infinity(), 80, 0.16), 1);
    EXPECT_EQ(risk_of_not_fitting(79, 80, 0), 0) << "an exact model has no risk below the capacity";
}

} // namespace
} // namespace fourfold::test
