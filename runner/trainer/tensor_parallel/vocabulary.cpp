// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/tensor_parallel/vocabulary.h"

#include <torch/csrc/autograd/custom_function.h>

#include <ATen/ops/embedding.h>
#include <ATen/ops/sub.h>

#include <algorithm>
#include <limits>

namespace fourfold::trainer {

namespace {
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using Gradients = torch::autograd::variable_list;

// Position of each id in this rank's part of the vocabulary, and whether it lies there at all.
std::pair<at::Tensor, at::Tensor> local_ids(const at::Tensor& ids, const Communicator& tp, int64_t part)
{
    const at::Tensor local = ids - part * tp.rank();
    const at::Tensor here = local.ge(0).logical_and(local.lt(part));
    return {local.clamp(0, part - 1), here};
}

// log-sum-exp over the whole vocabulary from per-rank maxima and sums; gradient: softmax minus one-hot.
struct CrossEntropy : Function<CrossEntropy> {
    static at::Tensor forward(
        AutogradContext* context, const at::Tensor& logits, const at::Tensor& labels, int64_t group, int64_t vocab)
    {
        const auto& tp = *reinterpret_cast<const Communicator*>(group);
        const int64_t part = logits.size(-1);
        context->saved_data["dtype"] = int64_t(logits.scalar_type());
        at::Tensor scores = logits.scalar_type() == at::kDouble ? logits.clone() : logits.to(at::kFloat, false, true);
        const int64_t valid = std::clamp<int64_t>(vocab - part * tp.rank(), 0, part);
        if (valid < part)
            scores.narrow(-1, valid, part - valid).fill_(-std::numeric_limits<double>::infinity());

        const at::Tensor highest = scores.amax(-1);
        tp.all_reduce(highest, Reduce::max);
        scores.sub_(highest.unsqueeze(-1));
        const auto [local, here] = local_ids(labels, tp, part);
        at::Tensor target = scores.gather(-1, local.unsqueeze(-1)).squeeze(-1).masked_fill(here.logical_not(), 0);
        scores.exp_();
        at::Tensor total = scores.sum(-1);
        Handle totals = tp.start_all_reduce(total), targets = tp.start_all_reduce(target);
        totals.wait();
        targets.wait();
        scores.div_(total.unsqueeze(-1));
        context->save_for_backward({scores, local, here});
        return (total.log() - target).sum();
    }

    static Gradients backward(AutogradContext* context, const Gradients& gradients)
    {
        const auto saved = context->get_saved_variables();
        at::Tensor slope = saved[0].clone();
        slope.scatter_add_(-1, saved[1].unsqueeze(-1), saved[2].to(slope.scalar_type()).neg().unsqueeze(-1));
        slope.mul_(gradients[0]);
        const auto dtype = static_cast<at::ScalarType>(context->saved_data["dtype"].toInt());
        return {slope.to(dtype), at::Tensor(), at::Tensor(), at::Tensor()};
    }
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
    const at::Tensor& logits, const at::Tensor& labels, const Communicator& tp, int64_t vocab)
{
    return CrossEntropy::apply(logits, labels, reinterpret_cast<int64_t>(&tp), vocab);
}

} // namespace fourfold::trainer
