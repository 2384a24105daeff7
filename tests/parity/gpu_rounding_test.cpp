// SPDX-License-Identifier: GPL-3.0-or-later
// Our own kernels for numbers of 8 bits (kernels/rounding.cu) against LibTorch's operators on the same GPU and against
// the CPU: the same bits, in each type, with ends beside whole vectors and tiles, and of transposed views.
#include "runner/trainer/device/device.h"
#include "runner/trainer/kernels/fp8.h"
#include "runner/trainer/kernels/gpu_kernels.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/exp2.h>
#include <ATen/ops/frexp.h>
#include <ATen/ops/randn.h>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace fourfold::testing {
namespace {

using namespace trainer;

class OurRounding : public ::testing::TestWithParam<at::ScalarType> {
protected:
    void SetUp() override
    {
        if (gpu_ids().empty())
            GTEST_SKIP() << "no GPU that CUDA can use";
        select_gpu(0);
    }
};

// Magnitudes over many orders.
at::Tensor numbers(at::IntArrayRef shape, at::ScalarType type)
{
    const auto some = [&](uint64_t seed) {
        return at::randn(shape, at::detail::createCPUGenerator(seed), at::TensorOptions(at::kFloat));
    };
    return some(1).mul(some(2).mul(2).exp()).to(type);
}

at::Tensor spread(const at::Tensor& of_blocks, const at::Tensor& matrix, const ScaleBlock& block)
{
    return of_blocks.repeat_interleave(block.rows, 0)
        .repeat_interleave(block.columns, 1)
        .narrow(0, 0, matrix.size(0))
        .narrow(1, 0, matrix.size(1));
}

at::Tensor power_below(const at::Tensor& x)
{
    return at::exp2(std::get<1>(at::frexp(x)).sub(1).to(at::kFloat));
}

struct Rounded {
    at::Tensor largest;
    Quantized quantized;
};

// As fp8.cpp does it where no kernel of ours is.
Rounded by_library(const at::Tensor& matrix, at::ScalarType type, const ScaleBlock& any, ScaleKind kind)
{
    const ScaleBlock block{any.rows > 0 ? any.rows : matrix.size(0), any.columns > 0 ? any.columns : matrix.size(1)};
    const int64_t down = (matrix.size(0) + block.rows - 1) / block.rows,
                  across = (matrix.size(1) + block.columns - 1) / block.columns;
    const at::Tensor largest = at::constant_pad_nd(
        matrix, {0, across * block.columns - matrix.size(1), 0, down * block.rows - matrix.size(0)})
                                   .reshape({down, block.rows, across, block.columns})
                                   .abs()
                                   .amax({1, 3})
                                   .to(at::kFloat);
    const at::Tensor magnitude = largest.clamp_min(1e-12);
    const bool e4m3 = type == at::kFloat8_e4m3fn;
    const double most = e4m3 ? 448 : 57344;
    at::Tensor scale = magnitude.reciprocal().mul(most);
    if (kind == ScaleKind::e8m0)
        scale = power_below(magnitude).reciprocal().mul(e4m3 ? 256 : 32768);
    if (kind == ScaleKind::power_of_two)
        scale = power_below(scale);
    return {largest,
        {matrix.to(at::kFloat).mul(spread(scale, matrix, block)).clamp(-most, most).to(type), scale.reciprocal()}};
}

Rounded by_fp8(const at::Tensor& matrix, at::ScalarType type, const ScaleBlock& block, ScaleKind kind)
{
    const at::Tensor largest = largest_of_blocks(matrix, block);
    return {largest, quantize(matrix, type, block, kind, largest)};
}

int64_t different(const at::Tensor& any_found, const at::Tensor& any_expected)
{
    const at::Tensor found = any_found.cpu(), expected = any_expected.cpu();
    return found.ne(expected)
        .logical_and(found.isnan().logical_and(expected.isnan()).logical_not())
        .sum()
        .item<int64_t>();
}

// Codes of 8 bits; a NaN is one with either sign.
int64_t different_codes(const at::Tensor& found, const at::Tensor& expected)
{
    constexpr int64_t kNone = 0x7F;
    const auto codes = [](const at::Tensor& values) {
        const at::Tensor own = values.contiguous().cpu().view(at::kByte).to(at::kInt);
        return own.where(own.bitwise_and(kNone).ne(kNone), own.bitwise_and(kNone));
    };
    return codes(found).ne(codes(expected)).sum().item<int64_t>();
}

void expect_same(const Rounded& found, const Rounded& expected, const std::string& what)
{
    ASSERT_EQ(found.largest.sizes(), expected.largest.sizes()) << what;
    ASSERT_EQ(found.quantized.inverse_scales.sizes(), expected.quantized.inverse_scales.sizes()) << what;
    ASSERT_EQ(found.quantized.values.sizes(), expected.quantized.values.sizes()) << what;
    ASSERT_EQ(found.quantized.values.scalar_type(), expected.quantized.values.scalar_type()) << what;
    EXPECT_EQ(different(found.largest, expected.largest), 0) << what << ": largest magnitudes";
    EXPECT_EQ(different(found.quantized.inverse_scales, expected.quantized.inverse_scales), 0) << what << ": scales";
    EXPECT_EQ(different_codes(found.quantized.values, expected.quantized.values), 0)
        << what << ": values, of " << found.quantized.values.numel();
}

struct Way {
    const char* name;
    at::ScalarType type;
    ScaleBlock block;
    ScaleKind kind;
};
const Way kWays[] = {{"tensorwise", at::kFloat8_e4m3fn, {0, 0}, ScaleKind::exact},
    {"tensorwise, wide", at::kFloat8_e5m2, {0, 0}, ScaleKind::exact},
    {"rowwise", at::kFloat8_e4m3fn, {1, 0}, ScaleKind::power_of_two},
    {"1 x 128", at::kFloat8_e4m3fn, {1, 128}, ScaleKind::exact},
    {"128 x 128", at::kFloat8_e4m3fn, {128, 128}, ScaleKind::exact},
    {"1 x 32", at::kFloat8_e4m3fn, {1, 32}, ScaleKind::e8m0},
    {"1 x 32, wide", at::kFloat8_e5m2, {1, 32}, ScaleKind::power_of_two},
    {"3 x 7", at::kFloat8_e5m2, {3, 7}, ScaleKind::e8m0}};

struct Shape {
    std::vector<int64_t> x; // in memory
    std::function<at::Tensor(const at::Tensor&)> view; // as a matrix
};
std::vector<Shape> shapes()
{
    const auto as_it_is = [](const at::Tensor& x) { return x; };
    const auto transposed = [](const at::Tensor& x) { return x.t(); };
    const auto narrowed
        = [](int64_t first, int64_t count) { return [=](const at::Tensor& x) { return x.narrow(1, first, count); }; };
    std::vector<Shape> all{{{64, 400}, narrowed(16, 272)}, {{64, 400}, narrowed(3, 272)},
        {{300, 400}, [](const at::Tensor& x) { return x.narrow(1, 8, 200).t(); }},
        {{300, 401}, [](const at::Tensor& x) { return x.narrow(1, 5, 200).t(); }},
        {{70, 2, 144}, [](const at::Tensor& x) { return x.select(1, 1); }},
        {{64, 48, 2}, [](const at::Tensor& x) { return x.select(2, 1); }}}; // neither order is without gaps
    const std::vector<std::vector<int64_t>> in_memory{
        {1, 1}, {3, 5}, {64, 128}, {130, 272}, {257, 1000}, {1, 100000}, {100000, 1}, {2048, 512}, {16, 4111}};
    for (const auto& shape : in_memory) {
        all.push_back({shape, as_it_is});
        all.push_back({shape, transposed});
    }
    return all;
}

std::string words(at::IntArrayRef shape, at::IntArrayRef strides, const Way& way, at::ScalarType type)
{
    std::ostringstream text;
    text << way.name << " of " << type << " " << shape << " with strides " << strides;
    return text.str();
}

TEST_P(OurRounding, IsThatOfLibTorchAndOfTheCpu)
{
    for (const Shape& shape : shapes()) {
        const at::Tensor x = numbers(shape.x, GetParam()), own = shape.view(x), there = shape.view(x.cuda());
        ASSERT_TRUE(has_gpu_kernels(there));
        for (const Way& way : kWays) {
            const std::string what = words(own.sizes(), own.strides(), way, GetParam());
            const Rounded found = by_fp8(there, way.type, way.block, way.kind);
            expect_same(found, by_library(there, way.type, way.block, way.kind), what + ", beside LibTorch");
            expect_same(found, by_fp8(own, way.type, way.block, way.kind), what + ", beside the CPU");
        }
    }
}

// Zeros of both signs, infinities and NaN, and blocks of zeros.
TEST_P(OurRounding, KeepsWhatIsNoNumber)
{
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const double odd : {0.0, -0.0, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()})
        for (const bool transposed : {false, true}) {
            at::Tensor x = numbers({256, 400}, GetParam());
            x.narrow(0, 128, 128).narrow(1, 128, 128).fill_(0);
            for (const int64_t place : {0, 77, 130, 255})
                x[place][(place * 3) % 400] = odd;
            const at::Tensor there = transposed ? x.cuda().t() : x.cuda();
            for (const Way& way : kWays) {
                const std::string what
                    = words(there.sizes(), there.strides(), way, GetParam()) + ", " + std::to_string(odd);
                const Rounded found = by_fp8(there, way.type, way.block, way.kind);
                expect_same(found, by_library(there, way.type, way.block, way.kind), what);
                EXPECT_EQ(found.largest.isnan().any().item<bool>(), std::isnan(odd)) << what;
            }
        }
}

// Every number of the type, times scales that reach all codes.
TEST_P(OurRounding, OfEveryNumberOfSixteenBits)
{
    if (GetParam() == at::kFloat)
        return;
    const at::Tensor all = at::arange(1 << 16, at::kInt).to(at::kShort).view(GetParam()).view({256, 256}).cuda();
    for (const Way& way : kWays)
        for (const at::Tensor& x : {all, all.t()})
            expect_same(by_fp8(x, way.type, way.block, way.kind), by_library(x, way.type, way.block, way.kind),
                words(x.sizes(), x.strides(), way, GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Types, OurRounding, ::testing::Values(at::kBFloat16, at::kHalf, at::kFloat),
    [](const auto& info) { return std::string(at::toString(info.param)); });

} // namespace
} // namespace fourfold::testing
