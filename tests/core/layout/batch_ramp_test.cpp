// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/batch_ramp.h"

#include <gtest/gtest.h>

#include <vector>

namespace fourfold {
namespace {

Training ramped(int start, int increment, double samples, int global_batch)
{
    Training training;
    training.seq_len = 10;
    training.global_batch = global_batch;
    training.ramp_up = RampUp{start, increment, samples};
    return training;
}

// Megatron-LM's calculator, as it stands there: it counts consumed samples.
std::vector<int> by_consumed_samples(const Training& training, int steps)
{
    const RampUp& ramp = *training.ramp_up;
    const double increments = double(training.global_batch - ramp.start) / ramp.increment;
    std::vector<int> sizes;
    double consumed = 0;
    for (int step = 0; step < steps; ++step) {
        const int grown = consumed > ramp.samples ? int(increments) : int(consumed / (ramp.samples / increments));
        sizes.push_back(consumed > ramp.samples ? training.global_batch : ramp.start + grown * ramp.increment);
        consumed += sizes.back();
    }
    return sizes;
}

TEST(BatchRamp, IsThatOfMegatron)
{
    // BLOOM's: from 192 by 16 over 9,765,625 samples to 2048; and one whose levels are a step or none.
    for (const Training& training :
        {ramped(192, 16, 9765625, 2048), ramped(8, 8, 100, 64), ramped(16, 16, 30, 128), ramped(4, 2, 64, 8)}) {
        const auto expected = by_consumed_samples(training, 20000);
        double consumed = 0;
        for (int step = 0; step < int(expected.size()); ++step) {
            const StepBatch batch = step_batch(training, step);
            ASSERT_EQ(batch.size, expected[std::size_t(step)]) << step;
            ASSERT_EQ(batch.first, consumed) << step;
            consumed += batch.size;
        }
        const int full = ramp_up_steps(training);
        ASSERT_LT(full, 20000);
        EXPECT_EQ(expected[std::size_t(full)], training.global_batch);
        EXPECT_LT(expected[std::size_t(full - 1)], training.global_batch);
    }
}

TEST(BatchRamp, WithoutOneEveryBatchIsFull)
{
    Training training;
    training.global_batch = 12;
    EXPECT_EQ(ramp_up_steps(training), 0);
    EXPECT_EQ(step_batch(training, 7).first, 84);
    EXPECT_EQ(step_batch(training, 7).size, 12);
    EXPECT_EQ(ramp_up_steps(ramped(64, 8, 100, 64)), 0);
}

TEST(BatchRamp, TotalSteps)
{
    Training training;
    training.seq_len = 10;
    training.global_batch = 100;
    RunSettings run;
    EXPECT_EQ(total_steps(training, run), kDefaultSteps);
    run.tokens = 1001;
    EXPECT_EQ(total_steps(training, run), 2);
    run.tokens = 1000;
    EXPECT_EQ(total_steps(training, run), 1);
    run.tokens = 1;
    EXPECT_EQ(total_steps(training, run), 1);
    training.global_batch = training.seq_len = 1;
    run.tokens = 1e18;
    EXPECT_EQ(total_steps(training, run), 2147483647);
    run.steps = 7;
    EXPECT_EQ(total_steps(training, run), 7);
}

TEST(BatchRamp, MoreStepsForTheSameTokens)
{
    const Training training = ramped(8, 8, 100, 64); // 8 8 16 16 24 32 40 ...
    RunSettings run;
    for (int steps = 1; steps < 40; ++steps) {
        run.tokens = 10 * step_batch(training, steps).first; // what the steps before it take
        EXPECT_EQ(total_steps(training, run), steps);
        *run.tokens += 1;
        EXPECT_EQ(total_steps(training, run), steps + 1);
    }
}

} // namespace
} // namespace fourfold
