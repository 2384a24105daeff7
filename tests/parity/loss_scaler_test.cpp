// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/optim/loss_scaler.h"

#include <gtest/gtest.h>

namespace fourfold::testing {
namespace {

using trainer::LossScaler;

TEST(LossScale, HalvesWithAnOverflowAndDoublesAfterLongWithout)
{
    LossScaler scaler(true, at::TensorOptions(at::kFloat));
    EXPECT_EQ(scaler.state().scale, 65536);
    ASSERT_TRUE(scaler.take(false));
    EXPECT_EQ(scaler.state().scale, 32768);
    for (int step = 0; step < LossScaler::kGrowsAfter; ++step) {
        EXPECT_EQ(scaler.state().scale, 32768);
        ASSERT_TRUE(scaler.take(true));
    }
    EXPECT_EQ(scaler.state().scale, 65536);
    LossScaler other(true, at::TensorOptions(at::kFloat));
    other.restore({8, 3});
    EXPECT_EQ(other.state().scale, 8);
    EXPECT_EQ(other.state().steady, 3);
    for (int halvings = 0; halvings < 3; ++halvings)
        ASSERT_TRUE(other.take(false));
    EXPECT_EQ(other.state().scale, 1);
}

TEST(LossScale, SaysWhenNoScaleHelps)
{
    LossScaler scaler(true, at::TensorOptions(at::kFloat));
    for (int step = 0; step < 16; ++step)
        ASSERT_TRUE(scaler.take(false)) << step;
    const auto ended = scaler.take(false);
    ASSERT_FALSE(ended);
    EXPECT_NE(ended.error().message.find("17 steps"), std::string::npos) << ended.error().line();
    LossScaler off(false, at::TensorOptions(at::kFloat));
    for (int step = 0; step < 50; ++step)
        ASSERT_TRUE(off.take(false));
    EXPECT_EQ(off.state().scale, 1);
}

} // namespace
} // namespace fourfold::testing
