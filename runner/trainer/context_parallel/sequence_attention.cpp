// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/context_parallel/sequence_attention.h"

#include <ATen/ops/logaddexp.h>

namespace fourfold::trainer {

namespace {
// A sink is a logit of its own in the softmax of each head, of which no value comes (GPT-OSS, arXiv:2508.10925, section
// 2): it takes its share from all outputs.
at::Tensor of_each_query(const at::Tensor& sinks, const at::Tensor& log_sum)
{
    return sinks.to(log_sum.scalar_type()).view({1, -1, 1});
}

AttentionPart shared_with(const AttentionPart& part, const at::Tensor& sinks)
{
    const at::Tensor total = at::logaddexp(part.log_sum, of_each_query(sinks, part.log_sum));
    return {part.output.mul(part.log_sum.sub(total).exp_().unsqueeze(-1)), total};
}

// d output / d sink = - share * output.
at::Tensor sink_gradient(
    const at::Tensor& slope, const at::Tensor& output, const at::Tensor& log_sum, const at::Tensor& sinks)
{
    const at::Tensor share = of_each_query(sinks, log_sum).sub(log_sum).exp_();
    const at::Tensor along = slope.to(log_sum.scalar_type()).mul(output).sum(-1);
    return share.mul_(along).sum(at::IntArrayRef({0, 2})).neg_().to(sinks.scalar_type());
}

class WholeAttention final : public SequenceAttention {
public:
    using SequenceAttention::SequenceAttention;

protected:
    AttentionPart attended(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) override
    {
        return attend(query, key, value, last_of(key, query), all(key), rule());
    }
    AttentionGradients gradients(const at::Tensor& slope, const at::Tensor& query, const at::Tensor& key,
        const at::Tensor& value, const at::Tensor& output, const at::Tensor& log_sum) override
    {
        return attend_backward(slope, query, key, value, output, log_sum, last_of(key, query), all(key), rule());
    }

private:
    static Runs all(const at::Tensor& key) { return {{0, key.size(kPositions)}}; }
    static Runs last_of(const at::Tensor& key, const at::Tensor& query)
    {
        return {{key.size(kPositions) - query.size(kPositions), query.size(kPositions)}};
    }
};
} // namespace

AttentionPart SequenceAttention::begun(const AttentionPart& part)
{
    return {part.output.to(part.log_sum.scalar_type(), false, /*copy=*/true), part.log_sum.clone()};
}

GradientFunction::Tensors SequenceAttention::forward(const Tensors& inputs, Tensors& kept)
{
    AttentionPart part = attended(inputs[0], inputs[1], inputs[2]);
    if (inputs.size() > 3)
        part = shared_with(part, inputs[3]);
    const at::Tensor result = part.output.to(inputs[0].scalar_type());
    kept = inputs;
    kept.insert(kept.begin(), {result, part.log_sum});
    return {result};
}

GradientFunction::Tensors SequenceAttention::backward(const Tensors& slopes, const Tensors& kept)
{
    const at::Tensor &output = kept[0], &log_sum = kept[1];
    const AttentionGradients found = gradients(slopes[0], kept[2], kept[3], kept[4], output, log_sum);
    Tensors result{found.query, found.key, found.value};
    if (kept.size() > 5)
        result.push_back(sink_gradient(slopes[0], output, log_sum, kept[5]));
    return result;
}

std::shared_ptr<GradientFunction> whole_attention(const AttentionRule& rule)
{
    return std::make_shared<WholeAttention>(rule);
}

} // namespace fourfold::trainer
