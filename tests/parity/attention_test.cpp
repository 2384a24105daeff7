// SPDX-License-Identifier: GPL-3.0-or-later
// Attention block by block, with windows, linear biases and sinks, against all scores in memory: outputs and gradients,
// over more than one block of queries; sinks once more in plain loops.
#include "runner/trainer/model/attention.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

namespace fourfold::testing {
namespace {

using namespace trainer;

constexpr int64_t kLength = 300, kBatch = 2, kHeads = 4, kKeyHeads = 2, kWidth = 8;

at::Tensor numbers(at::IntArrayRef shape, uint64_t seed)
{
    return at::randn(shape, at::detail::createCPUGenerator(seed), at::TensorOptions(at::kDouble)).requires_grad_(true);
}

struct Inputs {
    at::Tensor query = numbers({kLength, kBatch, kHeads, kWidth}, 1);
    at::Tensor key = numbers({kLength, kBatch, kKeyHeads, kWidth}, 2);
    at::Tensor value = numbers({kLength, kBatch, kKeyHeads, kWidth}, 3);
    at::Tensor sinks = numbers({kHeads}, 4);
};

struct Kind {
    const char* name;
    int64_t window;
    bool chunked, biased, sinks, documents = false;
};
class AttentionByRule : public ::testing::TestWithParam<Kind> { };

AttentionRule rule_of(const Kind& kind, AttentionKernel kernel)
{
    AttentionRule rule;
    rule.kernel = kernel;
    rule.scale = 0.3;
    rule.window = kind.window;
    rule.chunked = kind.chunked;
    if (kind.biased)
        rule.slopes = at::tensor(alibi_slopes(kHeads), at::kDouble);
    if (kind.documents) { // three in the first sequence, two in the second
        rule.documents.starts = at::zeros({kBatch, kLength}, at::kLong);
        rule.documents.starts[0].narrow(0, 40, kLength - 40).fill_(40);
        rule.documents.starts[0].narrow(0, 290, kLength - 290).fill_(290);
        rule.documents.starts[1].narrow(0, 150, kLength - 150).fill_(150);
        const at::Tensor least = rule.documents.starts.amin(0);
        const auto* values = least.const_data_ptr<int64_t>();
        rule.documents.earliest = std::make_shared<const std::vector<int64_t>>(values, values + kLength);
    }
    return rule;
}

TEST_P(AttentionByRule, IsThatOfAllScores)
{
    const Kind& kind = GetParam();
    const Inputs blocks, dense;
    const at::Tensor slope = numbers({kLength, kBatch, kHeads * kWidth}, 5).detach();
    const auto run = [&](const Inputs& in, AttentionKernel kernel) {
        const at::Tensor out
            = causal_attention(in.query, in.key, in.value, kind.sinks ? in.sinks : at::Tensor(), rule_of(kind, kernel));
        out.backward(slope);
        return out.detach();
    };
    const at::Tensor found = run(blocks, AttentionKernel::flash2);
    for (const AttentionKernel kernel : {AttentionKernel::unfused, AttentionKernel::fused_softmax}) {
        const Inputs fresh;
        const at::Tensor expected = run(fresh, kernel);
        const auto far = [](const at::Tensor& a, const at::Tensor& b) { return a.sub(b).abs().max().item<double>(); };
        EXPECT_LT(far(found, expected), 1e-13);
        EXPECT_LT(far(blocks.query.grad(), fresh.query.grad()), 1e-12);
        EXPECT_LT(far(blocks.key.grad(), fresh.key.grad()), 1e-12);
        EXPECT_LT(far(blocks.value.grad(), fresh.value.grad()), 1e-12);
        if (kind.sinks) {
            EXPECT_LT(far(blocks.sinks.grad(), fresh.sinks.grad()), 1e-12);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Rules, AttentionByRule,
    ::testing::Values(Kind{"causal_with_sinks", 0, false, false, true}, Kind{"window", 37, false, false, false},
        Kind{"window_with_sinks", 150, false, false, true}, Kind{"chunks", 64, true, false, false},
        Kind{"linear_biases", 0, false, true, false}, Kind{"everything", 20, false, true, true},
        Kind{"documents", 0, false, false, false, true}, Kind{"documents_and_everything", 60, true, true, true, true}),
    [](const auto& info) { return std::string(info.param.name); });

// A document in a longer sequence is the document alone.
TEST(Documents, SeeNothingOfEachOther)
{
    const Inputs in;
    const auto packed = rule_of({"", 0, false, false, false, true}, AttentionKernel::flash2);
    const auto plain = rule_of({"", 0, false, false, false}, AttentionKernel::unfused);
    const auto attended = [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const AttentionRule& rule) {
        return causal_attention(q, k, v, {}, rule).detach();
    };
    const at::Tensor all = attended(in.query, in.key, in.value, packed),
                     none = attended(in.query, in.key, in.value, plain);
    const auto apart = [&](int64_t sequence, int64_t begin, int64_t end, const at::Tensor& of) {
        const auto cut = [&](const at::Tensor& x) { return x.narrow(0, begin, end - begin).narrow(1, sequence, 1); };
        return attended(cut(in.query), cut(in.key), cut(in.value), plain).sub(cut(of)).abs().max().item<double>();
    };
    EXPECT_LT(apart(0, 0, 40, all), 1e-13);
    EXPECT_LT(apart(0, 40, 290, all), 1e-13);
    EXPECT_LT(apart(0, 290, 300, all), 1e-13);
    EXPECT_LT(apart(1, 150, 300, all), 1e-13);
    EXPECT_GT(apart(0, 40, 290, none), 1e-2) << "without the mask";
}

// A sink is one more logit of each softmax, without a value (GPT-OSS).
TEST(Sinks, TakeTheirShareFromEveryQuery)
{
    const Inputs in;
    const at::Tensor found = causal_attention(
        in.query, in.key, in.value, in.sinks, rule_of({"", 5, false, false, true}, AttentionKernel::flash2))
                                 .detach();
    const auto q = in.query.detach(), k = in.key.detach(), v = in.value.detach();
    for (const int64_t position : {0, 3, 200}) {
        for (int64_t head = 0; head < kHeads; ++head) {
            double total = std::exp(in.sinks[head].item<double>());
            std::vector<double> mixed(kWidth, 0.0);
            for (int64_t other = std::max<int64_t>(0, position - 4); other <= position; ++other) {
                double dot = 0;
                for (int64_t i = 0; i < kWidth; ++i)
                    dot += q[position][1][head][i].item<double>() * k[other][1][head / 2][i].item<double>();
                const double weight = std::exp(0.3 * dot);
                total += weight;
                for (int64_t i = 0; i < kWidth; ++i)
                    mixed[std::size_t(i)] += weight * v[other][1][head / 2][i].item<double>();
            }
            for (int64_t i = 0; i < kWidth; ++i)
                EXPECT_NEAR(found[position][1][head * kWidth + i].item<double>(), mixed[std::size_t(i)] / total, 1e-13);
        }
    }
}

} // namespace
} // namespace fourfold::testing
