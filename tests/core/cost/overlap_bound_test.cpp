// SPDX-License-Identifier: GPL-3.0-or-later
// The lecture's condition with the lecture's own numbers (Kempner CS 2281, lecture 8).
#include "core/cost/overlap_bound.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fourfold {
namespace {

constexpr double kAlpha = 1e-6; // s
constexpr double kRate = 1500e12; // FLOP/s
constexpr double kSequence = 8e3; // tokens
constexpr double kIntra = 1e12, kInter = 50e9; // bytes/s

// Gathering n parameters of two bytes over p ranks, two FLOPs a parameter and token.
OverlapBound gather(double n, double p, double beta)
{
    return {kAlpha * std::log2(p), 2 * n / beta, 0, 2 * n * kSequence / kRate};
}

TEST(OverlapBound, BetweenNodesTheLectureNeedsABatchOfOrderTen)
{
    // 2 bytes / 50 GB/s = 40 ps a parameter; 2 * 8000 / 1500 TFLOP/s = 10.7 ps a sequence: 3.75 sequences.
    const auto least = gather(1e9, 16, kInter).least_batch();
    ASSERT_TRUE(least);
    EXPECT_NEAR(*least, 3.75, 0.01);
    EXPECT_GT(*least, 1);
    EXPECT_LT(*least, 10) << "O(10)";
    // Inside a node one sequence is more than enough.
    EXPECT_LT(*gather(1e9, 16, kIntra).least_batch(), 1);
    // Small messages: the start-up counts. 10^5 parameters: 4 us against 1.07 us a sequence, 4 us of transfer.
    EXPECT_NEAR(*gather(1e5, 16, kInter).least_batch(), (4e-6 + 4e-6) / (1e5 * 2 * kSequence / kRate), 1e-9);
}

// The inequality as the lecture writes it, evaluated apart from the code, over a grid.
TEST(OverlapBound, IsTheLecturesInequality)
{
    int compute = 0, communication = 0;
    for (double n : {1e4, 1e6, 1e8, 1e10})
        for (double p : {2.0, 8.0, 64.0, 1024.0})
            for (double beta : {kIntra, kInter})
                for (double batch : {0.1, 1.0, 4.0, 10.0, 100.0}) {
                    const double bytes = 2 * n, compute_per_byte = kSequence; // 2 S FLOPs a parameter of two bytes
                    const bool holds = kAlpha * std::log2(p) <= (batch * compute_per_byte / kRate - 1 / beta) * bytes;
                    const OverlapBound bound = gather(n, p, beta);
                    EXPECT_EQ(bound.compute_bound(batch), holds) << n << " " << p << " " << beta << " " << batch;
                    EXPECT_EQ(batch >= *bound.least_batch(), holds);
                    (holds ? compute : communication) += 1;
                }
    EXPECT_GT(compute, 20);
    EXPECT_GT(communication, 20);
}

TEST(OverlapBound, ActivationsGrowWithTheBatch)
{
    const OverlapBound wide{1e-6, 0, 1e-6, 3e-6};
    EXPECT_DOUBLE_EQ(*wide.least_batch(), 0.5);
    const OverlapBound narrow{1e-6, 0, 3e-6, 1e-6};
    EXPECT_FALSE(narrow.least_batch());
    EXPECT_FALSE(narrow.compute_bound(1e9));
    EXPECT_EQ(*OverlapBound({0, 0, 1, 1}).least_batch(), 0);
    EXPECT_FALSE(OverlapBound({0, 0, 2, 1}).least_batch());
}

} // namespace
} // namespace fourfold
