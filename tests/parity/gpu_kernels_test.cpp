// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels that only a GPU takes, each against the arithmetic that the CPU does in its place: products of 8 bits,
// products of several experts, FlashAttention, norms and activations in bf16. Our own kernels (kernels/launches.cu) are
// in gpu_launches_test.cpp.
#include "runner/trainer/context_parallel/ruled_attention.h"
#include "runner/trainer/device/device.h"
#include "runner/trainer/expert_parallel/grouped_product.h"
#include "runner/trainer/kernels/fused.h"
#include "runner/trainer/tensor_parallel/fp8_products.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>

#include <gtest/gtest.h>

#include <cmath>

namespace fourfold::testing {
namespace {

using namespace trainer;

class OnAGpu : public ::testing::Test {
protected:
    void SetUp() override
    {
        if (gpu_ids().empty())
            GTEST_SKIP() << "no GPU that CUDA can use";
        select_gpu(0);
    }
};

// In bf16 on the CPU: both devices get the same numbers.
at::Tensor numbers(at::IntArrayRef shape, uint64_t seed)
{
    return at::randn(shape, at::detail::createCPUGenerator(seed), at::TensorOptions(at::kFloat)).to(at::kBFloat16);
}

// The same numbers on a GPU, and exact on the CPU.
at::Tensor leaf_on(bool cuda, at::IntArrayRef shape, uint64_t seed)
{
    const at::Tensor values = numbers(shape, seed);
    return (cuda ? values.cuda() : values.to(at::kDouble)).requires_grad_(true);
}

double furthest(const at::Tensor& found, const at::Tensor& expected)
{
    const at::Tensor exact = expected.to(at::kDouble);
    return found.cpu().to(at::kDouble).sub(exact).abs().max().item<double>() / exact.abs().max().item<double>();
}

constexpr double kBf16 = 1.0 / 256; // half a unit in the last place of 8 bits, relative

class Fp8OnAGpu : public OnAGpu, public ::testing::WithParamInterface<Fp8Recipe> {
protected:
    using Of = Fp8Products::Of;

    static Training training()
    {
        Training training;
        training.precision = Precision::fp8;
        training.fp8_recipe = GetParam();
        return training;
    }
    const Communicator alone_;
    const Fp8Products fp8_{training(), alone_, alone_};
};

// Within 2^-10 of sum |a| |b| beside the exact emulation, and the rounding of the result to bf16.
TEST_P(Fp8OnAGpu, TheScaledProductIsTheEmulatedOne)
{
    // Columns in 4 blocks of 128, and in 2, 3 and 11: a number of blocks that cuBLAS does not read as they lie.
    for (const int64_t columns : {512, 256, 384, 1408})
        for (const Of left : {Of::activation, Of::gradient}) {
            const at::Tensor x = numbers({256, columns}, 1), weight = numbers({384, columns}, 2);
            const auto factor = [&](const at::Tensor& matrix, Of of) {
                return fp8_.factor(matrix, of, Fp8Products::Sums::whole, fp8_.largest(matrix, of));
            };
            const auto a = factor(x, left), b = factor(weight, Of::weight);
            const at::Tensor exact = fp8_.product(a, b, at::kFloat);
            const at::Tensor found
                = fp8_.product(factor(x.cuda(), left), factor(weight.cuda(), Of::weight), at::kBFloat16)
                      .cpu()
                      .to(at::kFloat);
            const at::Tensor bound
                = at::matmul(a.exact.abs(), b.exact.abs().t()).mul(std::exp2(-10)).add(exact.abs().mul(kBf16));
            EXPECT_LT(found.sub(exact).abs().div(bound).max().item<double>(), 1)
                << (left == Of::gradient ? "gradient" : "") << " " << columns << " columns";
        }
}

TEST_P(Fp8OnAGpu, TheWeightGradientIsTheEmulatedOne)
{
    for (const int64_t sequences : {1, 3}) {
        const at::Tensor x = numbers({256, sequences, 384}, 1), slope = numbers({256, sequences, 256}, 2);
        const auto gradient = [&](const at::Tensor& from_x, const at::Tensor& from_slope) {
            return fp8_.weight_gradient(
                from_slope, fp8_.largest(from_slope, Of::gradient), from_x, fp8_.largest(from_x, Of::activation));
        };
        const at::Tensor exact = gradient(x.to(at::kFloat), slope.to(at::kFloat)),
                         found = gradient(x.cuda(), slope.cuda()).cpu().to(at::kFloat);
        const auto rows = [](const at::Tensor& of) { return of.to(at::kFloat).abs().view({-1, of.size(2)}); };
        // Rounding may make a magnitude a sixteenth larger, in e5m2 an eighth.
        constexpr double kRounded = 1.2;
        const at::Tensor bound
            = at::matmul(rows(slope).t(), rows(x)).mul(kRounded * std::exp2(-10)).add(exact.abs().mul(kBf16));
        ASSERT_EQ(found.sizes(), exact.sizes());
        EXPECT_LT(found.sub(exact).abs().div(bound).max().item<double>(), 1) << sequences << " sequences";
    }
}

INSTANTIATE_TEST_SUITE_P(Recipes, Fp8OnAGpu,
    ::testing::Values(Fp8Recipe::tensorwise, Fp8Recipe::rowwise, Fp8Recipe::blockwise), [](const auto& info) {
        return std::string(info.param == Fp8Recipe::tensorwise ? "tensorwise"
                : info.param == Fp8Recipe::rowwise             ? "rowwise"
                                                               : "blockwise");
    });

TEST_F(OnAGpu, ProductsOfExpertsAreThoseOfTheCpu)
{
    const std::vector<int64_t> rows{24, 0, 7, 33}; // one expert has no tokens
    const auto of = [&](bool cuda) {
        const auto leaf = [&](at::IntArrayRef shape, uint64_t seed) { return leaf_on(cuda, shape, seed); };
        const at::Tensor x = leaf({64, 48}, 1);
        std::vector<at::Tensor> weights, biases;
        for (std::size_t expert = 0; expert < rows.size(); ++expert) {
            weights.push_back(leaf({32, 48}, 10 + expert));
            biases.push_back(leaf({32}, 20 + expert));
        }
        const at::Tensor y = grouped_linear(x, weights, biases, true, rows);
        y.backward(numbers({64, 32}, 3).to(y.options()));
        std::vector<at::Tensor> all{y.detach(), x.grad()};
        for (const auto& leaves : {weights, biases})
            for (const at::Tensor& one : leaves)
                all.push_back(one.grad());
        return all;
    };
    const auto found = of(true), expected = of(false);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_TRUE(found[i].defined()) << i;
        if (expected[i].abs().max().item<double>() == 0) {
            EXPECT_EQ(found[i].abs().max().item<double>(), 0) << "an expert without tokens, " << i;
        } else {
            EXPECT_LT(furthest(found[i], expected[i]), 2 * kBf16) << i;
        }
    }
}

// A query head for each key head and several, seen causally and as a whole.
TEST_F(OnAGpu, FlashAttentionIsTheFormula)
{
    AttentionRule rule;
    rule.scale = 0.125;
    const int64_t s = 192;
    for (const bool causal : {true, false})
        for (const int64_t key_heads : {4, 2}) {
            const Runs own{{s, s}}, asked = causal ? own : Runs{{0, s}};
            const at::Tensor query = numbers({2, 4, s, 64}, 1), key = numbers({2, key_heads, s, 64}, 2),
                             value = numbers({2, key_heads, s, 64}, 3), slope = numbers({2, 4, s, 64}, 4);
            const auto exact = [](const at::Tensor& of) { return of.to(at::kDouble); };
            const AttentionPart found = attend(query.cuda(), key.cuda(), value.cuda(), own, asked, rule);
            const AttentionPart expected = attend_by_rule(exact(query), exact(key), exact(value), own, asked, rule);
            EXPECT_LT(furthest(found.output, expected.output), 2 * kBf16) << causal << key_heads;
            EXPECT_LT(furthest(found.log_sum, expected.log_sum), 1e-4) << causal << key_heads;
            const auto slopes = attend_backward(
                slope.cuda(), query.cuda(), key.cuda(), value.cuda(), found.output, found.log_sum, own, asked, rule);
            const auto by_rule = attend_backward_by_rule(exact(slope), exact(query), exact(key), exact(value),
                expected.output, expected.log_sum, own, asked, rule);
            EXPECT_LT(furthest(slopes.query, by_rule.query), 4 * kBf16) << causal << key_heads;
            EXPECT_LT(furthest(slopes.key, by_rule.key), 4 * kBf16) << causal << key_heads;
            EXPECT_LT(furthest(slopes.value, by_rule.value), 4 * kBf16) << causal << key_heads;
        }
}

TEST_F(OnAGpu, NormsAndActivationsAreThoseOfTheCpu)
{
    const auto of = [](bool cuda) {
        const auto leaf = [&](at::IntArrayRef shape, uint64_t seed) { return leaf_on(cuda, shape, seed); };
        const at::Tensor x = leaf({32, 2, 128}, 1), up = leaf({32, 2, 128}, 2), weight = leaf({128}, 3);
        const at::Tensor angles = numbers({32, 16}, 4), turned = leaf({32, 2, 4, 32}, 5);
        const auto there = [&](const at::Tensor& values) { return values.to(turned.options().requires_grad(false)); };
        const at::Tensor norm = fused_rms_norm(x, weight, 1e-5), gated = fused_swiglu(x, up),
                         clamped = fused_clamped_swiglu(x, up, 1.5),
                         rotated = fused_rotation(turned, there(angles.cos()), there(angles.sin()));
        norm.backward(norm.detach());
        gated.backward(gated.detach());
        clamped.backward(clamped.detach());
        rotated.backward(there(numbers(rotated.sizes(), 6)));
        return std::vector<at::Tensor>{norm.detach(), gated.detach(), clamped.detach(), rotated.detach(), x.grad(),
            up.grad(), weight.grad(), turned.grad()};
    };
    const auto found = of(true), expected = of(false);
    for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_LT(furthest(found[i], expected[i]), 4 * kBf16) << i;
}

} // namespace
} // namespace fourfold::testing
