// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers of 8 bits and their scales against the formats as they are written down, and the products of the emulation
// against LibTorch's scaled product.
#include "runner/trainer/comm/communicator.h"
#include "runner/trainer/expert_parallel/grouped_product.h"
#include "runner/trainer/kernels/fp8.h"
#include "runner/trainer/model/linear.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/_scaled_mm.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace fourfold::testing {
namespace {

using namespace trainer;

at::Tensor random_matrix(int64_t rows, int64_t columns, uint64_t seed)
{
    return at::randn({rows, columns}, at::detail::createCPUGenerator(seed), at::TensorOptions(at::kDouble));
}

// All magnitudes of a format, in the order of their codes: arXiv:2209.05433, table 1.
std::vector<double> magnitudes(int exponent_bits, int mantissa_bits, double most)
{
    const int bias = (1 << (exponent_bits - 1)) - 1;
    std::vector<double> all;
    for (int code = 0; code < 128; ++code) {
        const int exponent = code >> mantissa_bits, mantissa = code & ((1 << mantissa_bits) - 1);
        const double fraction = mantissa / double(1 << mantissa_bits);
        const double value = exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
        if (value <= most)
            all.push_back(value);
    }
    return all;
}

// The nearest, of two the one with an even code.
double nearest(const std::vector<double>& all, double x)
{
    std::size_t best = 0;
    for (std::size_t code = 1; code < all.size(); ++code) {
        const double distance = std::abs(all[code] - std::abs(x)), least = std::abs(all[best] - std::abs(x));
        if (distance < least || (distance == least && code % 2 == 0))
            best = code;
    }
    return std::copysign(all[best], x);
}

struct Format {
    const char* name;
    at::ScalarType type;
    int exponent_bits, mantissa_bits;
    double most;
    ScaleKind kind;
    ScaleBlock block;
};
class Fp8Numbers : public ::testing::TestWithParam<Format> { };

TEST_P(Fp8Numbers, AreTheNearestOfTheFormatWithTheScaleOfTheirBlock)
{
    const Format& format = GetParam();
    const int64_t rows = 6, columns = 70;
    // Magnitudes over many orders; in fp32 each, as the rounding goes by way of it.
    const at::Tensor x = random_matrix(rows, columns, 3).mul(random_matrix(rows, columns, 4).exp()).to(at::kFloat);
    const at::Tensor wide = x.to(at::kDouble);
    const Quantized found
        = quantize(wide, format.type, format.block, format.kind, largest_of_blocks(wide, format.block));
    const auto all = magnitudes(format.exponent_bits, format.mantissa_bits, format.most);
    const int64_t down = format.block.rows > 0 ? format.block.rows : rows;
    const int64_t across = format.block.columns > 0 ? format.block.columns : columns;
    const auto values = found.values.to(at::kDouble), scales = found.inverse_scales;
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t column = 0; column < columns; ++column) {
            double amax = 0;
            for (int64_t r = row / down * down; r < std::min(rows, row / down * down + down); ++r)
                for (int64_t c = column / across * across; c < std::min(columns, column / across * across + across);
                     ++c)
                    amax = std::max(amax, std::abs(double(x[r][c].item<float>())));
            double scale = format.most / amax;
            if (format.kind == ScaleKind::power_of_two)
                scale = std::exp2(std::floor(std::log2(scale)));
            else if (format.kind == ScaleKind::e8m0)
                scale = std::exp2(std::floor(std::log2(format.most)) - std::floor(std::log2(amax)));
            EXPECT_NEAR(scales[row / down][column / across].item<double>() * scale, 1, 1e-15);
            const double scaled = float(x[row][column].item<float>() * scale);
            ASSERT_EQ(values[row][column].item<double>(), nearest(all, std::clamp(scaled, -format.most, format.most)))
                << row << " " << column << ": " << scaled;
        }
}

INSTANTIATE_TEST_SUITE_P(Formats, Fp8Numbers,
    ::testing::Values(Format{"e4m3_tensorwise", at::kFloat8_e4m3fn, 4, 3, 448, ScaleKind::exact, {0, 0}},
        Format{"e5m2_tensorwise", at::kFloat8_e5m2, 5, 2, 57344, ScaleKind::exact, {0, 0}},
        Format{"e4m3_rowwise", at::kFloat8_e4m3fn, 4, 3, 448, ScaleKind::power_of_two, {1, 0}},
        Format{"e4m3_blockwise", at::kFloat8_e4m3fn, 4, 3, 448, ScaleKind::exact, {4, 32}},
        Format{"e4m3_mx", at::kFloat8_e4m3fn, 4, 3, 448, ScaleKind::e8m0, {1, 32}}),
    [](const auto& info) { return std::string(info.param.name); });

// Loops with the arithmetic that a GPU's kernel does with an element.
Quantized by_elements(const at::Tensor& x, at::ScalarType type, ScaleKind kind, const at::Tensor& largest)
{
    const Narrow narrow = type == at::kFloat8_e4m3fn ? Narrow::e4m3 : Narrow::e5m2;
    const at::Tensor wide = x.to(at::kFloat), codes = x.to(at::kByte);
    at::Tensor inverse_scales = largest.clone();
    for (int64_t row = 0; row < x.size(0); ++row) {
        const float scale = scale_of(largest.const_data_ptr<float>()[row], narrow, kind);
        inverse_scales.mutable_data_ptr<float>()[row] = 1 / scale;
        for (int64_t i = row * x.size(1); i < (row + 1) * x.size(1); ++i) {
            const float scaled = wide.const_data_ptr<float>()[i] * scale;
            codes.mutable_data_ptr<uint8_t>()[i]
                = narrow == Narrow::e4m3 ? narrowed<Narrow::e4m3>(scaled) : narrowed<Narrow::e5m2>(scaled);
        }
    }
    return {codes, inverse_scales};
}

// All numbers of 16 bits, as they are, of a row of codes with its scale; and those of fp32 between codes.
TEST(Fp8Elements, AreRoundedAsByLibTorch)
{
    const at::Tensor codes = at::arange(1 << 16, at::kInt);
    std::vector<at::Tensor> all;
    for (const at::ScalarType type : {at::kBFloat16, at::kHalf})
        all.push_back(codes.to(at::kShort).view(type).view({256, 256}));
    for (const int below : {1, 0x7FFF, 0x8000, 0x8001}) // bits of fp32 that bf16 does not have
        all.push_back(codes.mul(1 << 16).add(below).view(at::kFloat).view({256, 256}));
    constexpr int kNone = 0x7F; // with either sign
    for (const at::Tensor& x : all)
        for (const at::ScalarType type : {at::kFloat8_e4m3fn, at::kFloat8_e5m2})
            for (const ScaleKind kind : {ScaleKind::exact, ScaleKind::power_of_two, ScaleKind::e8m0}) {
                const ScaleBlock rows{1, 0};
                const at::Tensor largest = largest_of_blocks(x, rows);
                const Quantized expected = quantize(x, type, rows, kind, largest),
                                found = by_elements(x, type, kind, largest);
                EXPECT_TRUE(found.inverse_scales.allclose(expected.inverse_scales, 0, 0, /*equal_nan=*/true)) << type;
                const at::Tensor wanted = expected.values.view(at::kByte);
                const at::Tensor none = wanted.bitwise_and(kNone).eq(kNone);
                EXPECT_TRUE(found.values.bitwise_and(kNone).eq(kNone).equal(none)) << type;
                EXPECT_TRUE(found.values.masked_fill(none, 0).equal(wanted.masked_fill(none, 0))) << type;
            }
    for (const double most : {448, 57344}) { // without a scale: what is beyond the largest number too
        const at::ScalarType type = most == 448 ? at::kFloat8_e4m3fn : at::kFloat8_e5m2;
        const at::Tensor x = all[0].to(at::kFloat), wanted = x.clamp(-most, most).to(type).view(at::kByte);
        for (int64_t i = 0; i < x.numel(); ++i) {
            const float one = x.const_data_ptr<float>()[i];
            ASSERT_EQ(int(most == 448 ? narrowed<Narrow::e4m3>(one) : narrowed<Narrow::e5m2>(one)),
                int(wanted.const_data_ptr<uint8_t>()[i]))
                << type << " of " << one;
        }
    }
}

// As largest magnitudes are compared: NaN is above all.
TEST(Fp8Elements, MagnitudesAreOrderedAsTheirBits)
{
    const std::vector<float> all{0, 1e-45F, 1e-38F, 1, 1.5F, 3e38F, INFINITY, NAN};
    for (std::size_t i = 0; i + 1 < all.size(); ++i)
        EXPECT_LT(magnitude_bits(i % 2 == 0 ? all[i] : -all[i]), magnitude_bits(i % 2 == 0 ? -all[i + 1] : all[i + 1]));
    EXPECT_EQ(magnitude_bits(-0.0F), 0U);
}

Training recipe(Fp8Recipe which, MxRounding rounding = MxRounding::floor)
{
    Training training;
    training.precision = Precision::fp8;
    training.fp8_recipe = which;
    training.mx_rounding = rounding;
    return training;
}

at::Tensor fp8_linear(const at::Tensor& x, const at::Tensor& weight, const Fp8Products& fp8)
{
    static WeightGradients later;
    return linear(x, {weight, {}}, later, {&fp8});
}

// Within 2^-10 of sum |a| |b|, without fast accumulation; the result of LibTorch's is in bf16, whose own rounding is
// taken away.
TEST(Fp8Products, AreThoseOfTheScaledProduct)
{
    const at::Tensor x = random_matrix(48, 128, 5).to(at::kFloat), weight = random_matrix(64, 128, 6).to(at::kFloat);
    const Communicator alone;
    const at::Tensor y = fp8_linear(x, weight, Fp8Products(recipe(Fp8Recipe::tensorwise), alone, alone));
    const Quantized a = quantize(x, at::kFloat8_e4m3fn, {}, ScaleKind::exact, largest_of_blocks(x, {}));
    const Quantized b = quantize(weight, at::kFloat8_e4m3fn, {}, ScaleKind::exact, largest_of_blocks(weight, {}));
    const at::Tensor scaled = at::_scaled_mm(
        a.values, b.values.t(), a.inverse_scales, b.inverse_scales, std::nullopt, std::nullopt, at::kFloat);
    const at::Tensor bound = at::matmul(dequantize(a, {}, at::kFloat).abs(), dequantize(b, {}, at::kFloat).abs().t());
    EXPECT_LT(y.sub(scaled).abs().div(bound).max().item<double>(), std::exp2(-10));
    EXPECT_GT(y.sub(at::matmul(x, weight.t())).abs().max().item<double>(), 1e-2) << "it must not be fp32 in disguise";
}

// The gradients are products of rounded operands too: each recipe against plain sums over rounded matrices.
struct Recipe {
    const char* name;
    Fp8Recipe which;
    ScaleKind kind;
    int64_t run; // elements of a row that share a scale; 0: all
    MxRounding rounding = MxRounding::floor;
};
class Fp8Gradients : public ::testing::TestWithParam<Recipe> { };

TEST_P(Fp8Gradients, AreProductsOfRoundedMatrices)
{
    const Recipe& own = GetParam();
    const bool tensor = own.which == Fp8Recipe::tensorwise;
    // Rounded along the rows of `matrix`.
    const auto rounded = [&](const at::Tensor& matrix, bool weight, bool gradient) {
        const ScaleBlock block{tensor ? 0 : weight && own.which == Fp8Recipe::blockwise ? 128 : 1, own.run};
        return dequantize(quantize(matrix, tensor && gradient ? at::kFloat8_e5m2 : at::kFloat8_e4m3fn, block, own.kind,
                              largest_of_blocks(matrix, block)),
            block, at::kDouble);
    };
    // Two sequences: what weight gradients sum over is one after the other.
    const int64_t s = 128, b = 2, in = 256, out = 384;
    const at::Tensor x = random_matrix(s * b, in, 7).view({s, b, in}).requires_grad_(true);
    const at::Tensor weight = random_matrix(out, in, 8).requires_grad_(true);
    const at::Tensor slope = random_matrix(s * b, out, 9).view({s, b, out});
    const Communicator alone;
    const Fp8Products fp8(recipe(own.which, own.rounding), alone, alone);
    const at::Tensor y = fp8_linear(x, weight, fp8);
    y.backward(slope);
    const at::Tensor a = x.detach(), w = weight.detach();
    const auto rows = [](const at::Tensor& of) { return of.reshape({-1, of.size(-1)}); };
    const auto by_sequence = [](const at::Tensor& of) { return of.transpose(0, 1).reshape({-1, of.size(-1)}).t(); };
    const auto near = [&](const at::Tensor& found, const at::Tensor& expected) {
        return rows(found).sub(expected).abs().max().item<double>() / expected.abs().max().item<double>();
    };
    EXPECT_LT(near(y.detach(), at::matmul(rounded(rows(a), false, false), rounded(w, true, false).t())), 1e-14);
    EXPECT_LT(near(x.grad(), at::matmul(rounded(rows(slope), false, true), rounded(w.t(), true, false).t())), 1e-14);
    EXPECT_LT(near(weight.grad(),
                  at::matmul(rounded(by_sequence(slope), false, true), rounded(by_sequence(a), false, false).t())),
        1e-14);
    EXPECT_GT(near(y.detach(), at::matmul(rows(a), w.t())), 1e-3) << "it must not be fp64 in disguise";
}

INSTANTIATE_TEST_SUITE_P(Recipes, Fp8Gradients,
    ::testing::Values(Recipe{"tensorwise", Fp8Recipe::tensorwise, ScaleKind::exact, 0},
        Recipe{"rowwise", Fp8Recipe::rowwise, ScaleKind::power_of_two, 0},
        Recipe{"blockwise", Fp8Recipe::blockwise, ScaleKind::exact, 128},
        Recipe{"mxfp8", Fp8Recipe::mxfp8, ScaleKind::e8m0, 32},
        Recipe{"mxfp8_ceil", Fp8Recipe::mxfp8, ScaleKind::power_of_two, 32, MxRounding::ceil}),
    [](const auto& info) { return std::string(info.param.name); });

// Of several experts each is a linear of its own, with its own scales; one without rows has gradients of zero.
class Fp8Experts : public ::testing::TestWithParam<Fp8Recipe> { };

TEST_P(Fp8Experts, AreLinearsOfTheirOwnRows)
{
    const std::vector<int64_t> rows{48, 0, 80};
    const int64_t in = 128, out = 96;
    const Communicator alone;
    const Fp8Products fp8(recipe(GetParam()), alone, alone);
    const at::Tensor x = random_matrix(128, in, 11).requires_grad_(true), slope = random_matrix(128, out, 12);
    std::vector<at::Tensor> weights;
    for (std::size_t i = 0; i < rows.size(); ++i) // of magnitudes that are no other expert's
        weights.push_back(random_matrix(out, in, 13 + i).mul(double(i + 1)).requires_grad_(true));
    const at::Tensor y = grouped_linear(x, weights, {}, true, rows, &fp8);
    y.backward(slope);
    int64_t begin = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto own = [&](const at::Tensor& of) { return of.narrow(0, begin, rows[i]); };
        if (rows[i] == 0) {
            EXPECT_EQ(weights[i].grad().abs().max().item<double>(), 0);
            continue;
        }
        const at::Tensor part = own(x.detach()).clone().requires_grad_(true),
                         weight = weights[i].detach().clone().requires_grad_(true);
        const at::Tensor expected = fp8_linear(part, weight, fp8);
        expected.backward(own(slope));
        EXPECT_TRUE(own(y.detach()).equal(expected.detach()));
        EXPECT_TRUE(own(x.grad()).equal(part.grad()));
        // Rows of zeros fill up the last block of tokens, which may change the order of a sum.
        EXPECT_TRUE(weights[i].grad().allclose(weight.grad(), 1e-13, 1e-13));
        begin += rows[i];
    }
}

// Where blocks are of positions, weight gradients are sums of those of each run.
TEST(Fp8Runs, ShareNoScales)
{
    const std::vector<int64_t> rows{75, 0, 53}, runs{40, 0, 35, 0, 0, 0, 1, 20, 32}; // three of each expert
    const int64_t in = 128, out = 96;
    const Communicator alone;
    const Fp8Products fp8(recipe(Fp8Recipe::mxfp8), alone, alone);
    const at::Tensor x = random_matrix(128, in, 11), slope = random_matrix(128, out, 12);
    std::vector<at::Tensor> weights;
    for (std::size_t i = 0; i < rows.size(); ++i)
        weights.push_back(random_matrix(out, in, 13 + i).requires_grad_(true));
    grouped_linear(x, weights, {}, true, rows, &fp8, CutOver::columns, runs).backward(slope);
    int64_t begin = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        at::Tensor sum = at::zeros({out, in}, at::kDouble);
        for (std::size_t run = 3 * i; run < 3 * i + 3; begin += runs[run++])
            if (runs[run] > 0)
                sum += fp8.weight_gradient(slope.narrow(0, begin, runs[run]), {}, x.narrow(0, begin, runs[run]), {});
        EXPECT_LE(weights[i].grad().sub(sum).abs().max().item<double>(), 1e-13 * sum.abs().max().item<double>()) << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Recipes, Fp8Experts,
    ::testing::Values(Fp8Recipe::tensorwise, Fp8Recipe::rowwise, Fp8Recipe::blockwise, Fp8Recipe::mxfp8),
    [](const auto& info) { return fourfold::to_text(info.param); });

} // namespace
} // namespace fourfold::testing
