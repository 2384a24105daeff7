// SPDX-License-Identifier: GPL-3.0-or-later
// The order of found layouts: speed, the risk of not fitting, ties.
#include "core/search/ranking.h"

#include "core/predict/rank.h"
#include "tests/core/search/search_plans.h"

namespace fourfold {
namespace {

// Llama 3.1 8B on 80 GiB GPUs.
class Ranking : public testing::Test {
protected:
    FoundLayout found(double objective, double gib, int tp = 1) const
    {
        FoundLayout layout;
        layout.candidate.tp = tp;
        layout.objective = objective;
        layout.figures.memory_device_gib = gib;
        FoundRanking(request_).weigh(layout);
        return layout;
    }
    double capacity() const { return request_.plan.cluster.gpu.memory_gib; }

    SearchRequest request_ = small_request();
};

TEST_F(Ranking, RoomLeavesTheObjectiveAsItIs)
{
    const FoundLayout roomy = found(1000, capacity() / 4);
    EXPECT_LT(roomy.risk, 1e-9);
    EXPECT_EQ(roomy.weighed, 1000);
}

TEST_F(Ranking, WhatMayWellNotFitCountsForWhatItIsExpectedToBring)
{
    const FoundLayout full = found(1000, capacity());
    EXPECT_DOUBLE_EQ(full.risk, 0.5);
    EXPECT_DOUBLE_EQ(full.weighed, 500);
    const FoundRanking ranking(request_);
    EXPECT_TRUE(ranking.before(found(600, 20), full));
    EXPECT_TRUE(ranking.before(full, found(400, 20)));
    request_.objective = objective("step_time");
    EXPECT_DOUBLE_EQ(found(2, capacity()).weighed, 4) << "twice the time where half of the runs do not fit";
}

TEST_F(Ranking, ASmallRiskWeighsNothing)
{
    double gib = capacity();
    while (risk_of_not_fitting(found(1000, gib).figures.memory_device_gib, capacity(), 0.1) > 0.01)
        gib -= 0.5;
    const FoundLayout small = found(1000, gib);
    ASSERT_LE(small.risk, kMarkedRisk);
    EXPECT_EQ(small.weighed, small.objective);
}

TEST_F(Ranking, AnExpressionOfOnesOwnIsTakenAsItIsWritten)
{
    request_.objective = objective("min 0 - tps_per_gpu");
    EXPECT_EQ(found(-1000, capacity()).weighed, -1000);
    std::vector<FoundLayout> best{found(-1000, 70), found(-999.9, 10)};
    FoundRanking(request_).place_ties(best);
    EXPECT_EQ(best[0].objective, -1000);
    EXPECT_EQ(best[1].place, 2);
}

TEST_F(Ranking, LittleKnownPicksAreDrawnBack)
{
    EXPECT_EQ(expected_of_pick(0), 1);
    EXPECT_NEAR(expected_of_pick(0.15), 0.9, 0.02);
    EXPECT_LT(expected_of_pick(0.3), expected_of_pick(0.15));
    // Context parallelism across nodes of 8 GPUs was never measured with the generic stack.
    request_.plan.gpus = 32;
    FoundLayout known = found(1000, 20, 8), unknown = found(1040, 20, 4);
    known.candidate.dp = 4;
    unknown.candidate.cp = 8;
    std::vector<FoundLayout> best{unknown, known};
    FoundRanking(request_).place_ties(best);
    EXPECT_EQ(best[0].candidate.cp, 8) << "by the bare figure";
    request_.expected = true;
    best = {unknown, known};
    FoundRanking(request_).place_ties(best);
    EXPECT_EQ(best[0].candidate.cp, 1) << "4 % more, of a kind that nobody measured";
    EXPECT_GT(best[1].may_beat_first, 0.1) << "and it may well be the better one";
    EXPECT_EQ(best[0].may_beat_first, 0);
}

TEST_F(Ranking, TheFirstSaysWhatItMayLose)
{
    EXPECT_NEAR(may_lose(1, 0.05), std::exp(0.05 * 1.2816) - 1, 1e-12);
    EXPECT_EQ(may_lose(0.8, 0.05), 0);
    EXPECT_NEAR(spread_of_ties(tie_width(0.03)), 0.03, 1e-12);
    std::vector<FoundLayout> best{found(1000, 20, 1), found(999, 30, 2), found(700, 10, 4)};
    FoundRanking(request_).place_ties(best);
    EXPECT_GT(best[1].may_beat_first, 0);
    EXPECT_EQ(best[2].may_beat_first, 0);
    request_.top = 2;
    FoundRanking(request_).place_ties(best);
    EXPECT_EQ(best.size(), 2U);
}

TEST_F(Ranking, TiesShareAPlaceAndLessMemoryLeads)
{
    std::vector<FoundLayout> best{found(1000, 50, 1), found(999, 20, 2), found(900, 10, 4)};
    FoundRanking(request_).place_ties(best);
    EXPECT_EQ(best[0].candidate.tp, 2);
    EXPECT_EQ(best[1].candidate.tp, 1);
    EXPECT_EQ((std::vector<int>{best[0].place, best[1].place, best[2].place}), (std::vector<int>{1, 1, 3}));
}

} // namespace
} // namespace fourfold
