// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/tensor_parallel/vocabulary.h"

#include "runner/trainer/autograd/gradient_function.h"

#include <ATen/ops/embedding.h>

#include <algorithm>
#include <limits>

namespace fourfold::trainer {

namespace {
// Position of each id in this rank's part of the vocabulary, and whether it lies there at all.
std::pair<at::Tensor, at::Tensor> local_ids(const at::Tensor& ids, const Communicator& tp, int64_t part)
{
    const at::Tensor local = ids.sub(part * tp.rank());
    const at::Tensor here = local.ge(0).logical_and(local.lt(part));
    return {local.clamp(0, part - 1), here};
}

// log-sum-exp over the whole vocabulary from per-rank maxima and sums; gradient: softmax minus one-hot.
class CrossEntropy final : public GradientFunction {
public:
    CrossEntropy(at::Tensor labels, bool all_count, const Communicator& tp, int64_t vocab)
        : labels_(std::move(labels))
        , all_count_(all_count)
        , tp_(tp)
        , vocab_(vocab)
    {
    }

    Tensors forward(const Tensors& inputs, Tensors& kept) override
    {
        const at::Tensor& logits = inputs[0];
        const int64_t part = logits.size(-1);
        dtype_ = logits.scalar_type();
        const at::Tensor scores = dtype_ == at::kDouble ? logits.clone() : logits.to(at::kFloat, false, true);
        const int64_t valid = std::clamp<int64_t>(vocab_ - part * tp_.rank(), 0, part);
        if (valid < part)
            scores.narrow(-1, valid, part - valid).fill_(-std::numeric_limits<double>::infinity());

        const at::Tensor highest = scores.amax(-1);
        tp_.all_reduce(highest, Reduce::max);
        scores.sub_(highest.unsqueeze(-1));
        const auto [local, here] = local_ids(labels_, tp_, part);
        const at::Tensor target = scores.gather(-1, local.unsqueeze(-1)).squeeze(-1).masked_fill(here.logical_not(), 0);
        scores.exp_();
        const at::Tensor total = scores.sum(-1);
        Handle totals = tp_.start_all_reduce(total), targets = tp_.start_all_reduce(target);
        totals.wait();
        targets.wait();
        scores.div_(total.unsqueeze(-1));
        kept = {scores, local, here};
        const at::Tensor losses = total.log().sub(target);
        if (!all_count_) { // neither a loss nor a gradient where there is no label
            const at::Tensor absent = labels_.lt(0);
            scores.masked_fill_(absent.unsqueeze(-1), 0);
            losses.masked_fill_(absent, 0);
        }
        return {losses.sum()};
    }

    Tensors backward(const Tensors& gradients, const Tensors& kept) override
    {
        const at::Tensor slope = kept[0].clone();
        slope.scatter_add_(-1, kept[1].unsqueeze(-1), kept[2].to(slope.scalar_type()).neg().unsqueeze(-1));
        return {slope.mul_(gradients[0]).to(dtype_)};
    }

private:
    at::Tensor labels_;
    bool all_count_;
    const Communicator& tp_;
    int64_t vocab_;
    at::ScalarType dtype_ = at::kFloat;
};
} // namespace

at::Tensor partial_embedding(const at::Tensor& tokens, const at::Tensor& table, const Communicator& tp)
{
    if (tp.size() == 1)
        return at::embedding(table, tokens);
    const auto [local, here] = local_ids(tokens, tp, table.size(0));
    return at::embedding(table, local).masked_fill(here.logical_not().unsqueeze(-1), 0);
}

at::Tensor vocabulary_cross_entropy(
    const at::Tensor& logits, const at::Tensor& labels, bool all_count, const Communicator& tp, int64_t vocab)
{
    return apply(std::make_shared<CrossEntropy>(labels, all_count, tp, vocab), {logits})[0];
}

} // namespace fourfold::trainer
