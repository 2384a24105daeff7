// SPDX-License-Identifier: GPL-3.0-or-later
// Our own kernels for GPUs (kernels/launches.cu) against the arithmetic of the CPU in fp64, in each type and at shapes
// with ends beside whole vectors. A failure says type, shape, and by how many of the allowed errors it is off.
#include "runner/trainer/device/device.h"
#include "runner/trainer/kernels/fused.h"
#include "runner/trainer/kernels/gpu_kernels.h"
#include "runner/trainer/kernels/updates.h"
#include "runner/trainer/tensor_parallel/vocabulary.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <sstream>

namespace fourfold::testing {
namespace {

using namespace trainer;

using Tensors = std::vector<at::Tensor>;

constexpr double kInf = std::numeric_limits<double>::infinity();

// Relative error of one element, a unit in the last place, and beside it that of fp32 sums, of the largest one.
double allowed(at::ScalarType type)
{
    return type == at::kBFloat16 ? 1.0 / 256 : type == at::kHalf ? 1.0 / 1024 : 4e-6;
}
constexpr double kOfLargest = 2e-6;

class OurKernels : public ::testing::TestWithParam<at::ScalarType> {
protected:
    void SetUp() override
    {
        if (gpu_ids().empty())
            GTEST_SKIP() << "no GPU that CUDA can use";
        select_gpu(0);
    }
    [[nodiscard]] at::Tensor numbers(at::IntArrayRef shape, double scale = 1)
    {
        return at::randn(shape, at::detail::createCPUGenerator(++seed_), at::TensorOptions(at::kFloat))
            .mul(scale)
            .to(GetParam());
    }
    // The largest error of `found` counted in allowed ones.
    void expect_near(const at::Tensor& found, const at::Tensor& expected, const std::string& what) const
    {
        ASSERT_TRUE(found.defined()) << what;
        ASSERT_EQ(found.sizes(), expected.sizes()) << what;
        EXPECT_EQ(found.scalar_type(), GetParam()) << what;
        const at::Tensor exact = expected.to(at::kDouble).abs();
        const at::Tensor bound
            = exact.mul(allowed(GetParam())).add(exact.max().mul(kOfLargest)).add(1e-7); // fp16's smallest numbers
        const at::Tensor off = found.cpu().to(at::kDouble).sub(expected.to(at::kDouble)).abs().div(bound).flatten();
        const auto worst = off.argmax().item<int64_t>();
        const auto element
            = [worst](const at::Tensor& x) { return x.cpu().to(at::kDouble).flatten()[worst].item<double>(); };
        EXPECT_LT(off[worst].item<double>(), 1)
            << what << " in " << GetParam() << ": element " << worst << " is " << element(found) << " and not "
            << element(expected) << ", of " << off.numel() << " elements " << off.ge(1).sum().item<int64_t>()
            << " are beyond the bound";
    }

private:
    uint64_t seed_ = 0;
};

std::string words(at::IntArrayRef shape)
{
    std::ostringstream text;
    text << shape;
    return text.str();
}

// A leaf on the GPU and one of fp64 on the CPU with the same numbers, each seen through `view`.
struct Twins {
    Twins(const at::Tensor& numbers, std::function<at::Tensor(const at::Tensor&)> how)
        : view(std::move(how))
        , gpu(numbers.cuda().requires_grad_(true))
        , exact(numbers.to(at::kDouble).requires_grad_(true))
    {
    }
    std::function<at::Tensor(const at::Tensor&)> view;
    at::Tensor gpu, exact;
};

at::Tensor as_it_is(const at::Tensor& x)
{
    return x;
}

TEST_P(OurKernels, RotationIsThatOfTheCpu)
{
    struct Shape {
        std::vector<int64_t> x; // in memory
        std::function<at::Tensor(const at::Tensor&)> view = as_it_is; // to [s, b, heads, head_dim]
    };
    const auto narrowed
        = [](int64_t first, int64_t count) { return [=](const at::Tensor& x) { return x.narrow(-1, first, count); }; };
    const std::vector<Shape> shapes{{{5, 2, 3, 64}}, {{7, 1, 2, 80}}, {{3, 2, 32, 128}}, {{4, 3, 1, 6}},
        {{9, 2, 5, 20}}, {{2, 2, 300, 64}}, {{3, 1, 700, 2}}, {{257, 3, 8, 64}}, {{3, 2, 4, 80}, narrowed(0, 32)},
        {{3, 2, 4, 96}, narrowed(32, 64)}, {{3, 2, 4, 72}, narrowed(3, 64)},
        {{2, 5, 4, 64}, [](const at::Tensor& x) { return x.transpose(0, 1); }},
        {{5, 2, 64, 4}, [](const at::Tensor& x) { return x.transpose(2, 3); }},
        {{5, 2, 3, 3, 64}, [](const at::Tensor& x) { return x.select(3, 1); }}};
    for (const Shape& shape : shapes)
        for (const bool own_tables : {false, true}) {
            Twins x(numbers(shape.x), shape.view);
            const at::Tensor seen = x.view(x.gpu);
            const int64_t half = seen.size(3) / 2;
            const std::vector<int64_t> of_table
                = own_tables ? std::vector{seen.size(0), seen.size(1), half} : std::vector{seen.size(0), half};
            const at::Tensor angles = numbers(of_table, 3).to(at::kFloat), cosine = angles.cos(), sine = angles.sin();
            const std::string what = "rotation of " + words(shape.x) + " seen as " + words(seen.sizes())
                + (own_tables ? ", tables of each sequence" : "");
            ASSERT_TRUE(has_gpu_kernels(seen));
            const at::Tensor found = fused_rotation(seen, cosine.cuda(), sine.cuda()),
                             expected = fused_rotation(x.view(x.exact), cosine.to(at::kDouble), sine.to(at::kDouble));
            expect_near(found.detach(), expected.detach(), what);
            // The gradient comes with the positions inside, as from attention.
            const at::Tensor slope
                = numbers({seen.size(1), seen.size(2), seen.size(0), seen.size(3)}).permute({2, 0, 1, 3});
            found.backward(slope.cuda());
            expected.backward(slope.to(at::kDouble));
            expect_near(x.gpu.grad(), x.exact.grad(), what + ", gradient");
        }
}

TEST_P(OurKernels, GatedActivationsAreThoseOfTheCpu)
{
    struct Shape {
        std::vector<int64_t> x;
        std::function<at::Tensor(const at::Tensor&)> view = as_it_is;
    };
    const std::vector<Shape> shapes{{{1}}, {{7}}, {{8}}, {{1027}}, {{3, 5, 333}}, {{2, 4096}}, {{64, 1, 8191}},
        {{0, 16}}, {{1030}, [](const at::Tensor& x) { return x.narrow(0, 1, 1029); }}, // no vector begins there
        {{33, 65}, [](const at::Tensor& x) { return x.t(); }}};
    constexpr double kLimit = 0.7; // that many of the numbers are beyond
    const auto plainly = [](const at::Tensor& gate, const at::Tensor& up) { return fused_swiglu(gate, up); };
    const auto clamped
        = [](const at::Tensor& gate, const at::Tensor& up) { return fused_clamped_swiglu(gate, up, kLimit); };
    for (const auto& [form, activation] :
        {std::pair<const char*, at::Tensor (*)(const at::Tensor&, const at::Tensor&)>("SwiGLU", plainly),
            {"clamped SwiGLU", clamped}})
        for (const Shape& shape : shapes) {
            const std::string what = form + (" of " + words(shape.x));
            Twins gate(numbers(shape.x, 4), shape.view), up(numbers(shape.x), shape.view);
            const at::Tensor found = activation(gate.view(gate.gpu), up.view(up.gpu)),
                             expected = activation(gate.view(gate.exact), up.view(up.exact));
            ASSERT_TRUE(has_gpu_kernels(found));
            const at::Tensor slope = numbers(found.sizes());
            found.backward(slope.cuda());
            expected.backward(slope.to(at::kDouble));
            if (found.numel() == 0)
                continue;
            expect_near(found.detach(), expected.detach(), what);
            expect_near(gate.gpu.grad(), gate.exact.grad(), what + ", gradient of the gate");
            expect_near(up.gpu.grad(), up.exact.grad(), what + ", gradient of up");
        }
}

// Gates so large that their exponential is none.
TEST_P(OurKernels, SwiGluEndsInLinesAndZeros)
{
    const at::Tensor gate = at::arange(-200, 208, 8, at::kFloat).to(GetParam()), up = numbers(gate.sizes()),
                     slope = numbers(gate.sizes());
    const auto exact = [](const at::Tensor& x) { return x.to(at::kDouble); };
    const at::Tensor sigmoid = exact(gate).sigmoid(), g = exact(gate);
    expect_near(gated_by_kernel({}, gate.cuda(), up.cuda()), g.mul(sigmoid).mul(exact(up)), "SwiGLU of large gates");
    const auto [gate_slope, up_slope] = gated_slopes_by_kernel({}, slope.cuda(), gate.cuda(), up.cuda());
    expect_near(gate_slope, exact(slope).mul(exact(up)).mul(sigmoid).mul(g.mul(sigmoid.neg().add(1)).add(1)),
        "gradient of large gates");
    expect_near(up_slope, exact(slope).mul(g).mul(sigmoid), "gradient of up beside large gates");
}

// The norm is of the sum as it was rounded.
TEST_P(OurKernels, NormOfASumIsThatOfTheCpu)
{
    const std::vector<std::vector<int64_t>> shapes{
        {1, 1, 1}, {3, 2, 8}, {5, 1, 4096}, {4, 1, 4099}, {257, 2, 520}, {3, 1, 8200}, {600, 1, 16}, {2, 1, 16384}};
    for (const std::vector<int64_t>& shape : shapes) {
        const std::string what = "norm of a sum, " + words(shape);
        Twins x(numbers(shape), as_it_is), more(numbers(shape), as_it_is), weight(numbers({shape.back()}), as_it_is);
        const NormedSum found = fused_normed_sum(x.gpu, more.gpu, weight.gpu, 1e-5);
        ASSERT_TRUE(has_gpu_kernels(found.sum));
        expect_near(found.sum.detach(), x.exact.detach().add(more.exact.detach()), what);
        const at::Tensor sum = found.sum.detach().cpu().to(at::kDouble).requires_grad_(true),
                         expected = fused_rms_norm(sum, weight.exact, 1e-5);
        expect_near(found.normed.detach(), expected.detach(), what + ", normed");
        const at::Tensor slope = numbers(shape), sum_slope = numbers(shape);
        expected.backward(slope.to(at::kDouble));
        found.normed.mul(slope.cuda()).sum().add(found.sum.mul(sum_slope.cuda()).sum()).backward();
        const at::Tensor both = sum.grad().add(sum_slope.to(at::kDouble));
        expect_near(x.gpu.grad(), both, what + ", gradient");
        expect_near(more.gpu.grad(), both, what + ", gradient of what is added");
        expect_near(weight.gpu.grad(), weight.exact.grad(), what + ", gradient of the weight");
    }
}

// Where no vector begins too; moments that are kept in 16 bits are rounded once.
TEST_P(OurKernels, UpdatesAndSquaresAreThoseOfTheCpu)
{
    const AdamFactors<double> factors{0.7, 0.1, 0.9, 0.1, 0.95, 0.05, 0.99, 0.003, 2.5, 1e-8};
    const auto furthest = [](const at::Tensor& found, const at::Tensor& exact) {
        return found.cpu().to(at::kDouble).sub(exact).abs().max().item<double>() / exact.abs().max().item<double>();
    };
    for (const int64_t count : {1, 7, 1027, 300001})
        for (const int64_t first : {0, 1}) {
            const at::Tensor whole = numbers({count + first}), gradient = whole.narrow(0, first, count),
                             there = whole.cuda().narrow(0, first, count);
            const double squares = gradient.to(at::kDouble).square().sum().item<double>();
            EXPECT_NEAR(squared_norm(Kernels::fused, there).item<double>(), squares, 1e-6 * squares) << count;
            for (const at::ScalarType kept : {at::kFloat, at::kBFloat16}) {
                const at::Tensor master = numbers({count}).to(at::kFloat), mean = numbers({count}).to(kept),
                                 square = numbers({count}).abs().to(kept);
                const auto exact = [](const at::Tensor& x) { return x.to(at::kDouble, false, /*copy=*/true); };
                const Tensors expected{exact(master), exact(mean), exact(square)},
                    found{master.cuda(), mean.cuda(), square.cuda()};
                adam_update(Kernels::plain, factors, exact(gradient), expected[0], expected[1], expected[2]);
                adam_update(Kernels::fused, factors, there, found[0], found[1], found[2]);
                for (std::size_t i = 0; i < found.size(); ++i)
                    EXPECT_LT(furthest(found[i], expected[i]), i > 0 && kept == at::kBFloat16 ? 1.0 / 256 : 3e-6)
                        << GetParam() << " " << count << " from " << first << ", " << i;
            }
        }
}

struct LossShape {
    int64_t s, b, width, words;
};
const LossShape kLosses[] = {{3, 2, 8, 8}, {6, 2, 13, 11}, {4, 3, 61, 61}, {5, 1, 1000, 997}, {3, 2, 4099, 4099},
    {2, 2, 32000, 32000}, {1, 3, 50264, 50257}, {35001, 2, 9, 7}};

TEST_P(OurKernels, CrossEntropyIsThatOfTheCpuAndOfThePlainFormula)
{
    const Communicator alone;
    for (const LossShape& shape : kLosses)
        for (const bool all_count : {true, false}) {
            at::Tensor labels = at::arange(shape.s * shape.b, at::kLong).mul(7919).remainder(shape.words);
            if (!all_count)
                labels.masked_fill_(at::arange(shape.s * shape.b, at::kLong).remainder(3).eq(1), -1);
            labels = labels.view({shape.s, shape.b});
            const std::string what = "loss of " + words({shape.s, shape.b, shape.width}) + ", vocabulary "
                + std::to_string(shape.words) + (all_count ? "" : ", some without label");
            const Twins x(numbers({shape.s, shape.b, shape.width}, 5), as_it_is);
            ASSERT_TRUE(has_gpu_kernels(x.gpu));
            const at::Tensor logits = x.gpu.mul(1); // what an operation made, as the head
            const at::Tensor found
                = vocabulary_cross_entropy(Kernels::fused, logits, labels.cuda(), all_count, alone, shape.words),
                expected
                = vocabulary_cross_entropy(Kernels::fused, x.exact.mul(1), labels, all_count, alone, shape.words);
            const at::Tensor logs = at::log_softmax(x.exact.detach().narrow(-1, 0, shape.words), -1);
            const double plain = -logs.gather(-1, labels.clamp_min(0).unsqueeze(-1))
                                      .squeeze(-1)
                                      .masked_fill(labels.lt(0), 0)
                                      .sum()
                                      .item<double>();
            EXPECT_NEAR(expected.item<double>(), plain, 1e-9 * plain) << what;
            EXPECT_NEAR(found.item<double>(), plain, 2e-6 * plain) << what << " in " << GetParam();
            found.mul(0.5).backward();
            expected.mul(0.5).backward();
            expect_near(x.gpu.grad(), x.exact.grad(), what + ", gradient");
            EXPECT_TRUE(logits.detach().equal(x.gpu.grad())) << what << ": the gradient is a copy";
        }
}

// Two ranks of a vocabulary that both fill, that one fills, and of which one has a part.
TEST_P(OurKernels, PartsOfAVocabularyMakeTheWhole)
{
    constexpr int64_t kRows = 5, kPart = 77;
    const at::Tensor whole = numbers({kRows, 2 * kPart}, 5),
                     labels = at::tensor(at::ArrayRef<int64_t>({0, 70, -1, 76, 80}), at::kLong);
    for (const int64_t count : {2 * kPart, kPart + 5, kPart, kPart - 6}) {
        const at::Tensor valid = whole.narrow(1, 0, count).to(at::kDouble), log_sum = valid.logsumexp(1);
        at::Tensor together = at::full({kRows}, 0, at::kDouble), slopes = whole.to(at::kDouble).zero_();
        slopes.narrow(1, 0, count).copy_(valid.sub(log_sum.unsqueeze(1)).exp());
        std::vector<at::Tensor> highest;
        for (const int64_t rank : {0, 1}) {
            const int64_t own = std::clamp<int64_t>(count - rank * kPart, 0, kPart);
            const at::Tensor part = whole.narrow(1, rank * kPart, kPart).contiguous().cuda();
            const RowSums sums = row_sums_by_kernel(part, own);
            highest.push_back(sums.highest.cpu().to(at::kDouble));
            const at::Tensor expected = own > 0 ? part.cpu().narrow(1, 0, own).to(at::kDouble).amax(1)
                                                : at::full({kRows}, -kInf, at::kDouble);
            EXPECT_TRUE(highest.back().equal(expected)) << GetParam() << " rank " << rank << " of " << count;
            together.add_(sums.sum.cpu().to(at::kDouble).mul(highest.back().sub(log_sum).exp()));
            for (const bool all_count : {true, false}) {
                const at::Tensor written = part.clone();
                write_loss_slopes(written, own, log_sum.to(at::kFloat).cuda(), labels.cuda(), rank * kPart, all_count,
                    at::full({}, 0.25, at::TensorOptions(at::kFloat).device(part.device())));
                at::Tensor right = slopes.clone();
                for (int64_t row = 0; row < kRows; ++row)
                    if (const auto label = labels[row].item<int64_t>(); label >= 0)
                        right[row][label].sub_(1);
                    else if (!all_count)
                        right[row].zero_();
                expect_near(written, right.mul(0.25).narrow(1, rank * kPart, kPart),
                    "slopes of rank " + std::to_string(rank) + " of " + std::to_string(count) + " columns"
                        + (all_count ? "" : ", one row without label"));
            }
        }
        EXPECT_LT(together.sub(1).abs().max().item<double>(), 2e-6) << GetParam() << " " << count << " columns";
    }
}

TEST_P(OurKernels, RowsWithoutNumbersSaySo)
{
    constexpr int64_t kWidth = 131;
    for (const double odd : {-kInf, kInf, std::nan("")})
        for (const int64_t place : {0, 7, 64, 130}) {
            at::Tensor logits = numbers({3, kWidth}, 3);
            logits[1][place] = odd;
            const RowSums sums = row_sums_by_kernel(logits.cuda(), kWidth);
            const at::Tensor found = sums.sum.cpu().to(at::kDouble), exact = logits.to(at::kDouble),
                             expected = exact.sub(exact.amax(1, true)).exp().sum(1);
            for (const int64_t row : {0, 1, 2}) {
                const auto sum = found[row].item<double>();
                if (row == 1 && odd != -kInf)
                    EXPECT_TRUE(std::isnan(sum)) << GetParam() << ": " << odd << " at " << place << " makes " << sum;
                else
                    EXPECT_NEAR(sum, expected[row].item<double>(), 1e-5 * sum)
                        << GetParam() << " " << odd << " " << row;
            }
        }
    const RowSums none = row_sums_by_kernel(at::full({3, kWidth}, -kInf, at::kFloat).to(GetParam()).cuda(), kWidth);
    EXPECT_EQ(none.sum.abs().max().item<float>(), 0) << GetParam();
    EXPECT_TRUE(none.highest.eq(-kInf).all().item<bool>()) << GetParam();
}

INSTANTIATE_TEST_SUITE_P(Types, OurKernels, ::testing::Values(at::kBFloat16, at::kHalf, at::kFloat),
    [](const auto& info) { return std::string(at::toString(info.param)); });

// Other types and tables go LibTorch's way there.
TEST(OurKernelsAlone, DoNotTakeFp64)
{
    if (gpu_ids().empty())
        GTEST_SKIP() << "no GPU that CUDA can use";
    select_gpu(0);
    const at::Tensor x = at::randn({3, 2, 4, 16}, at::kDouble), angles = at::randn({3, 8}, at::kDouble);
    ASSERT_FALSE(has_gpu_kernels(x.cuda()));
    const at::Tensor found = fused_rotation(x.cuda(), angles.cos().cuda(), angles.sin().cuda()),
                     expected = fused_rotation(x, angles.cos(), angles.sin());
    EXPECT_TRUE(found.cpu().allclose(expected, 1e-13, 1e-13));
    EXPECT_TRUE(fused_swiglu(x.cuda(), x.cuda()).cpu().allclose(fused_swiglu(x, x), 1e-13, 1e-13));
}

} // namespace
} // namespace fourfold::testing
