// SPDX-License-Identifier: GPL-3.0-or-later
// Products that keep no input of their own: results and gradients are those of their parts one by one, less is kept
// between the passes, and a sum that a product adds its weight gradient to holds what autograd would add.
#include "runner/trainer/kernels/operations.h"
#include "runner/trainer/model/fused_products.h"
#include "tests/parity/counted_work.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros_like.h>

#include <gtest/gtest.h>

#include <functional>

namespace fourfold::testing {
namespace {

using namespace trainer;
using Tensors = std::vector<at::Tensor>;

constexpr double kNormEps = 1e-5;
constexpr int64_t kTokenRows = 37, kOuter = 24, kInner = 40; // vectors have a rest

at::Tensor leaf(at::IntArrayRef shape, at::ScalarType type, uint64_t seed)
{
    return at::randn(shape, at::detail::createCPUGenerator(seed), at::kDouble).to(type).requires_grad_(true);
}

struct Form {
    const char* name;
    std::vector<std::vector<int64_t>> leaves;
    std::function<Tensors(const Tensors&, WeightGradients&)> fused;
    std::function<Tensors(const Tensors&, WeightGradients&, Kernels)> parts; // with these between the products
    std::size_t first_weight; // among the leaves
};
void PrintTo(const Form& form, std::ostream* out)
{
    *out << form.name;
}

const Form kForms[] = {
    {"norm", {{kTokenRows, 1, kOuter}, {kOuter}, {kInner, kOuter}, {kOuter, kOuter}},
        [](const Tensors& in, WeightGradients& later) {
            return normed_products(in[0].mul(1), in[1], kNormEps, {{in[2], {}}, {in[3], {}}}, later);
        },
        [](const Tensors& in, WeightGradients& later, Kernels kernels) {
            const at::Tensor y = rms_norm(kernels, in[0].mul(1), in[1], kNormEps);
            return Tensors{linear(y, {in[2], {}}, later), linear(y, {in[3], {}}, later)};
        },
        2},
    {"norm_of_a_sum", {{kTokenRows, 1, kOuter}, {kTokenRows, 1, kOuter}, {kOuter}, {kInner, kOuter}, {kInner}},
        [](const Tensors& in, WeightGradients& later) {
            return normed_sum_products(in[0].mul(1), in[1].mul(1), in[2], kNormEps, {{in[3], in[4]}}, later);
        },
        [](const Tensors& in, WeightGradients& later, Kernels kernels) {
            const NormedSum both = normed_sum(kernels, in[0].mul(1), in[1].mul(1), in[2], kNormEps);
            return Tensors{both.sum, linear(both.normed, {in[3], in[4]}, later)};
        },
        3},
    {"gate", {{kTokenRows, 1, kInner}, {kTokenRows, 1, kInner}, {kOuter, kInner}},
        // Gate and up are what operations made: their gradients are written over them.
        [](const Tensors& in, WeightGradients& later) {
            return Tensors{gated_product(in[0].mul(1), in[1].mul(1), {in[2], {}}, later)};
        },
        [](const Tensors& in, WeightGradients& later, Kernels kernels) {
            return Tensors{linear(swiglu(kernels, in[0].mul(1), in[1].mul(1)), {in[2], {}}, later)};
        },
        2},
};

class FusedProducts : public ::testing::TestWithParam<Form> {
protected:
    static Tensors leaves(at::ScalarType type)
    {
        Tensors all;
        for (const auto& shape : GetParam().leaves)
            all.push_back(leaf(shape, type, 10 + all.size()));
        return all;
    }
    // Every element of the outputs has a weight of its own.
    static at::Tensor weighed(const Tensors& outputs)
    {
        at::Tensor sum;
        for (const at::Tensor& output : outputs) {
            const at::Tensor part = output.mul(leaf(output.sizes(), output.scalar_type(), 90).detach()).sum();
            sum = sum.defined() ? sum.add(part) : part;
        }
        return sum;
    }
};

// What tensors have in memory.
const CountedWork& counted()
{
    static const CountedWork work;
    return work;
}

double furthest(const at::Tensor& found, const at::Tensor& expected)
{
    return found.sub(expected).abs().max().item<double>() / expected.abs().max().item<double>();
}

TEST_P(FusedProducts, AreTheirParts)
{
    for (const auto& [type, bound] : {std::pair(at::kDouble, 1e-13), std::pair(at::kFloat, 5e-6)}) {
        WeightGradients later;
        const Tensors own = leaves(type), others = leaves(type);
        const Tensors found = GetParam().fused(own, later), expected = GetParam().parts(others, later, Kernels::plain);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i)
            EXPECT_LT(furthest(found[i].detach(), expected[i].detach()), bound) << "output " << i;
        weighed(found).backward();
        weighed(expected).backward();
        for (std::size_t i = 0; i < own.size(); ++i)
            EXPECT_LT(furthest(own[i].grad(), others[i].grad()), bound) << "gradient of operand " << i;
    }
}

// Twice, as of two micro-batches; the sum is not autograd's to add to.
TEST_P(FusedProducts, AddWeightGradientsWhereTheyAreSummedUp)
{
    WeightGradients adding, plain;
    const Tensors own = leaves(at::kDouble), others = leaves(at::kDouble);
    const std::size_t weight = GetParam().first_weight;
    const at::Tensor total = at::zeros_like(own[weight].detach());
    int added = 0;
    adding.add_up(own[weight], {total, [&] { ++added; }});
    for (int pass = 0; pass < 2; ++pass) {
        weighed(GetParam().fused(own, adding)).backward();
        weighed(GetParam().parts(others, plain, Kernels::plain)).backward();
    }
    EXPECT_EQ(added, 2);
    EXPECT_FALSE(own[weight].grad().defined());
    EXPECT_LT(furthest(total, others[weight].grad()), 1e-13);
    for (std::size_t i = 0; i < own.size(); ++i) {
        if (i != weight) {
            EXPECT_LT(furthest(own[i].grad(), others[i].grad()), 1e-13) << "gradient of operand " << i;
        }
    }
}

// A weight gradient that waits for its turn has what it needs by itself.
TEST_P(FusedProducts, LeaveWeightGradientsForLater)
{
    WeightGradients later, plain;
    const Tensors own = leaves(at::kDouble), others = leaves(at::kDouble);
    const std::size_t weight = GetParam().first_weight;
    const at::Tensor loss = weighed(GetParam().fused(own, later));
    later.begin_postponing({0, 0});
    loss.backward();
    later.end_postponing();
    EXPECT_FALSE(own[weight].grad().defined());
    later.run({0, 0});
    weighed(GetParam().parts(others, plain, Kernels::plain)).backward();
    for (std::size_t i = 0; i < own.size(); ++i)
        EXPECT_LT(furthest(own[i].grad(), others[i].grad()), 1e-13) << "gradient of operand " << i;
}

TEST_P(FusedProducts, KeepLess)
{
    const auto kept_by = [](const auto& form) {
        const int64_t before = counted().bytes();
        const Tensors outputs = form();
        int64_t bytes = counted().bytes() - before;
        for (const at::Tensor& output : outputs)
            bytes -= int64_t(output.nbytes());
        return bytes;
    };
    (void)counted(); // before its first tensor
    WeightGradients later;
    const Tensors in = leaves(at::kFloat);
    const int64_t fused = kept_by([&] { return GetParam().fused(in, later); }),
                  parts = kept_by([&] { return GetParam().parts(in, later, Kernels::fused); });
    EXPECT_LT(fused, parts);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, FusedProducts, ::testing::ValuesIn(kForms), [](const auto& info) { return info.param.name; });

TEST(FusedProducts, AreNotForPassesWithoutGradients)
{
    const at::Tensor weight = leaf({kOuter, kOuter}, at::kFloat, 1), x = leaf({kTokenRows, kOuter}, at::kFloat, 2);
    EXPECT_TRUE(makes_inputs_again(x, weight));
    EXPECT_FALSE(makes_inputs_again(x.detach(), weight));
    EXPECT_FALSE(makes_inputs_again(x.to(at::kBFloat16), weight));
    const at::NoGradGuard no_graph;
    EXPECT_FALSE(makes_inputs_again(x, weight));
}

} // namespace
} // namespace fourfold::testing
