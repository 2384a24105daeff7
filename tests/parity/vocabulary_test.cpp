// SPDX-License-Identifier: GPL-3.0-or-later
// The loss over chunks of rows equals LibTorch's over all at once; its gradient lies where the logits were. The sum
// that a GPU's kernel makes in one pass.
#include "runner/trainer/kernels/elements.h"
#include "runner/trainer/tensor_parallel/vocabulary.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/randn.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace fourfold::testing {
namespace {

using trainer::vocabulary_cross_entropy;

constexpr int64_t kPositions = 6, kSequences = 2, kWords = 11, kColumns = 13;

struct LossAndSlope {
    double loss = 0;
    at::Tensor gradient;
};

LossAndSlope loss_of_library(const at::Tensor& logits, const at::Tensor& labels)
{
    const at::Tensor x = logits.detach().clone().requires_grad_(true);
    const at::Tensor rows = x.narrow(-1, 0, kWords).reshape({kPositions * kSequences, kWords});
    constexpr int64_t kSum = 2;
    const at::Tensor loss = at::cross_entropy_loss(rows, labels.flatten(), {}, kSum, /*ignore_index=*/-1);
    loss.mul(0.5).backward();
    return {loss.item<double>(), x.grad()};
}

// `at_once`: elements of a chunk. The logits are what an operation made, as those of the head.
LossAndSlope loss_in_chunks(const at::Tensor& logits, const at::Tensor& labels, bool all_count, int64_t at_once)
{
    const trainer::Communicator alone;
    const at::Tensor x = logits.detach().clone().requires_grad_(true), made = x.mul(1);
    const at::Tensor loss
        = vocabulary_cross_entropy(trainer::Kernels::fused, made, labels, all_count, alone, kWords, at_once);
    loss.mul(0.5).backward();
    EXPECT_TRUE(made.detach().equal(x.grad())) << "the gradient is a copy";
    return {loss.item<double>(), x.grad()};
}

TEST(ChunkedLoss, IsThatOfAllRowsAtOnce)
{
    const at::Tensor logits = at::randn({kPositions, kSequences, kColumns}, at::kDouble).mul(5);
    const at::Tensor all
        = at::arange(kPositions * kSequences, at::kLong).mul(7).remainder(kWords).view({kPositions, kSequences});
    at::Tensor some = all.clone();
    some[1][0] = -1;
    some[5][1] = -1;
    for (const bool all_count : {true, false}) {
        const at::Tensor& labels = all_count ? all : some;
        const LossAndSlope expected = loss_of_library(logits, labels);
        // A row, five rows and a rest, all of them.
        for (const int64_t at_once : {int64_t(1), 5 * kColumns, kPositions * kSequences * kColumns}) {
            const LossAndSlope result = loss_in_chunks(logits, labels, all_count, at_once);
            EXPECT_NEAR(result.loss, expected.loss, 1e-12 * expected.loss) << at_once;
            EXPECT_TRUE(result.gradient.allclose(expected.gradient, 1e-12, 1e-14)) << at_once;
        }
        const LossAndSlope wrong = loss_in_chunks(logits, all_count ? some : all, false, 5 * kColumns);
        EXPECT_FALSE(wrong.gradient.allclose(expected.gradient, 1e-6, 1e-8));
    }
}

// bf16 rounds the gradient once, at its end.
TEST(ChunkedLoss, OfSixteenBitsIsComputedInFp32)
{
    const at::Tensor logits = at::randn({kPositions, kSequences, kColumns}).mul(5).to(at::kBFloat16);
    const at::Tensor labels
        = at::arange(kPositions * kSequences, at::kLong).remainder(kWords).view({kPositions, kSequences});
    const LossAndSlope expected = loss_of_library(logits.to(at::kFloat), labels),
                       result = loss_in_chunks(logits, labels, true, kColumns);
    EXPECT_NEAR(result.loss, expected.loss, 1e-5 * expected.loss);
    EXPECT_EQ(result.gradient.scalar_type(), at::kBFloat16);
    constexpr double kHalfUlp = 1.0 / 256;
    EXPECT_TRUE(result.gradient.to(at::kFloat).allclose(expected.gradient, kHalfUlp, 1e-7));
}

// In four sums that are put together, as threads do.
trainer::ExponentialSum in_one_pass(const std::vector<float>& numbers)
{
    trainer::ExponentialSum sums[4], whole;
    for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) {
        const float pair[] = {numbers[i], numbers[i + 1]};
        sums[i / 2 % 4].add(pair);
    }
    for (const auto& one : sums)
        whole.add(one);
    return whole;
}

TEST(ExponentialSum, InOnePassIsThatOfTwo)
{
    constexpr float kNone = -INFINITY;
    std::vector<float> numbers;
    for (int i = 0; i < 200; ++i)
        numbers.push_back(30 * std::sin(float(i * i)));
    for (std::size_t masked = 0; masked <= numbers.size(); masked += 50) { // the first ones are -inf
        std::fill(numbers.begin(), numbers.begin() + std::ptrdiff_t(masked), kNone);
        const trainer::ExponentialSum found = in_one_pass(numbers);
        const float highest = *std::max_element(numbers.begin(), numbers.end());
        EXPECT_EQ(found.highest, highest) << masked;
        double sum = 0;
        for (const float x : numbers)
            sum += highest == kNone ? 0 : std::exp(double(x) - double(highest));
        EXPECT_NEAR(found.sum, sum, 1e-6 * sum) << masked;
    }
}

TEST(ExponentialSum, OfNoNumberIsNone)
{
    EXPECT_EQ(in_one_pass({}).highest, -INFINITY);
    EXPECT_EQ(in_one_pass({}).sum, 0);
    for (const float wrong : {NAN, INFINITY})
        for (const std::size_t place : {0, 3, 7}) {
            std::vector<float> numbers(8, -INFINITY);
            numbers[2] = 1;
            numbers[place] = wrong;
            EXPECT_TRUE(std::isnan(in_one_pass(numbers).sum)) << wrong << " at " << place;
        }
}

} // namespace
} // namespace fourfold::testing
