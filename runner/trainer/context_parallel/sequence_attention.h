// SPDX-License-Identifier: GPL-3.0-or-later
// Attention of this rank's queries to a whole sequence, as an operation with gradient: inputs query, key, value [b,
// heads or kv_heads, s, head_dim] and, where the model has them, its heads' sinks [heads]; one output, shaped like the
// query. How keys of other ranks come is for those that derive from it.
#pragma once

#include "runner/trainer/autograd/gradient_function.h"
#include "runner/trainer/context_parallel/attention_block.h"

namespace fourfold::trainer {

class SequenceAttention : public GradientFunction {
public:
    explicit SequenceAttention(AttentionRule rule)
        : rule_(std::move(rule))
    {
    }
    Tensors forward(const Tensors& inputs, Tensors& kept) final;
    Tensors backward(const Tensors& gradients, const Tensors& kept) final;

    [[nodiscard]] Repeat repeat() const override { return Repeat::costly; }

protected:
    // Over all keys.
    virtual AttentionPart attended(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) = 0;
    virtual AttentionGradients gradients(const at::Tensor& slope, const at::Tensor& query, const at::Tensor& key,
        const at::Tensor& value, const at::Tensor& output, const at::Tensor& log_sum)
        = 0;

    static constexpr int kPositions = 2; // dimension of [b, heads, s, head_dim]
    // What attend() gave, to be merged with more.
    static AttentionPart begun(const AttentionPart& part);
    [[nodiscard]] const AttentionRule& rule() const { return rule_; }

private:
    AttentionRule rule_;
};

// Of a sequence whose keys are here as a whole; fewer queries are those of its last positions.
std::shared_ptr<GradientFunction> whole_attention(const AttentionRule& rule);

} // namespace fourfold::trainer
