// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/tensor_parallel/vocabulary.h"

#include "runner/trainer/autograd/gradient_function.h"
#include "runner/trainer/kernels/gpu_kernels.h"

#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/sum.h>

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

at::ScalarType wide_type(const at::Tensor& x)
{
    return x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

// Columns of this rank's `part` that are of the vocabulary; what fills it up to equal parts comes last.
int64_t valid_columns(int64_t vocab, const Communicator& tp, int64_t part)
{
    return std::clamp<int64_t>(vocab - part * tp.rank(), 0, part);
}

// Of the first `valid` columns, each row's largest over all ranks.
at::Tensor highest_of_rows(const at::Tensor& rows, int64_t valid, const Communicator& tp)
{
    const auto wide = rows.options().dtype(wide_type(rows));
    const at::Tensor highest = valid > 0 ? rows.narrow(1, 0, valid).amax(1).to(wide)
                                         : at::full({rows.size(0)}, -std::numeric_limits<double>::infinity(), wide);
    tp.all_reduce(highest, Reduce::max);
    return highest;
}

// The logits of the labels less the highest of their rows; 0 where they are another rank's.
at::Tensor logits_of_labels(
    const at::Tensor& rows, const at::Tensor& local, const at::Tensor& here, const at::Tensor& highest)
{
    return rows.gather(1, local.unsqueeze(1))
        .squeeze(1)
        .to(wide_type(rows))
        .sub(highest)
        .masked_fill(here.logical_not(), 0);
}

// log-sum-exp over the whole vocabulary from per-rank maxima and sums; gradient: softmax minus one-hot. Logits stay as
// they came, [rows, part]; only so many rows at once are in fp32, and the gradient takes the logits' place.
class CrossEntropy final : public GradientFunction {
public:
    CrossEntropy(const at::Tensor& labels, bool all_count, const Communicator& tp, int64_t vocab, int64_t at_once)
        : labels_(labels.flatten())
        , all_count_(all_count)
        , tp_(tp)
        , vocab_(vocab)
        , at_once_(at_once)
    {
    }

    Tensors forward(const Tensors& inputs, Tensors& kept) override
    {
        const at::Tensor logits = inputs[0].contiguous(), rows = logits.flatten(0, -2);
        const int64_t part = rows.size(1), valid = valid_columns(vocab_, tp_, part);
        const auto [highest, total] = has_gpu_kernels(rows) ? sums_by_kernel(rows, valid) : sums_in_chunks(rows, valid);
        const auto [local, here] = local_ids(labels_, tp_, part);
        const at::Tensor target = logits_of_labels(rows, local, here, highest);
        Handle totals = tp_.start_all_reduce(total), targets = tp_.start_all_reduce(target);
        totals.wait();
        targets.wait();
        const at::Tensor log_total = total.log_();
        const at::Tensor losses = log_total.sub(target);
        if (!all_count_) // no loss where there is no label
            losses.masked_fill_(labels_.lt(0), 0);
        kept = {logits, log_total.add_(highest)};
        if (!has_gpu_kernels(rows))
            kept.insert(kept.end(), {local, here});
        return {losses.sum()};
    }

    Tensors backward(const Tensors& gradients, const Tensors& kept) override
    {
        const at::Tensor logits = kept[0].detach(), rows = logits.flatten(0, -2);
        const int64_t part = rows.size(1), valid = valid_columns(vocab_, tp_, part);
        if (has_gpu_kernels(rows)) {
            write_loss_slopes(rows, valid, kept[1], labels_, part * tp_.rank(), all_count_, gradients[0]);
            return {logits};
        }
        const at::Tensor ones = kept[3].to(wide_type(rows)).neg();
        const at::Tensor factors = all_count_ ? gradients[0] : labels_.ge(0).mul(gradients[0]).unsqueeze(1);
        each_chunk(rows, [&](int64_t first, const at::Tensor& chunk) {
            const auto of_chunk = [&](const at::Tensor& x) { return x.narrow(0, first, chunk.size(0)).unsqueeze(1); };
            const at::Tensor slope = exponentials(chunk, kept[1], first);
            if (valid < part)
                slope.narrow(1, valid, part - valid).zero_();
            slope.scatter_add_(1, of_chunk(kept[2]), of_chunk(ones));
            chunk.copy_(slope.mul_(all_count_ ? factors : factors.narrow(0, first, chunk.size(0))));
        });
        return {logits};
    }

private:
    // Largest logit of each row over all ranks, and this rank's sum of exp(logit - largest).
    using Sums = std::pair<at::Tensor, at::Tensor>;
    [[nodiscard]] Sums sums_in_chunks(const at::Tensor& rows, int64_t valid) const
    {
        const at::Tensor highest = highest_of_rows(rows, valid, tp_);
        const at::Tensor total = at::empty_like(highest);
        each_chunk(rows, [&](int64_t first, const at::Tensor& chunk) {
            at::Tensor sums = total.narrow(0, first, chunk.size(0));
            at::sum_out(sums, exponentials(chunk.narrow(1, 0, valid), highest, first), {1});
        });
        return {highest, total};
    }
    // The logits are read once: the sum is of exp(logit - this rank's largest) first.
    [[nodiscard]] Sums sums_by_kernel(const at::Tensor& rows, int64_t valid) const
    {
        const RowSums own = row_sums_by_kernel(rows, valid);
        if (tp_.size() == 1)
            return {own.highest, own.sum};
        const at::Tensor highest = own.highest.clone();
        tp_.all_reduce(highest, Reduce::max);
        own.sum.mul_(own.highest.sub_(highest).exp_());
        return {highest, own.sum};
    }
    // exp(chunk - sums[first ...]), a tensor of its own.
    static at::Tensor exponentials(const at::Tensor& chunk, const at::Tensor& sums, int64_t first)
    {
        const at::Tensor scores = chunk.to(wide_type(chunk), /*non_blocking=*/false, /*copy=*/true);
        return scores.sub_(sums.narrow(0, first, chunk.size(0)).unsqueeze(1)).exp_();
    }
    template <typename Use>
    void each_chunk(const at::Tensor& rows, Use&& use) const
    {
        const int64_t step = std::max<int64_t>(1, at_once_ / rows.size(1));
        for (int64_t first = 0; first < rows.size(0); first += step)
            use(first, rows.narrow(0, first, std::min(step, rows.size(0) - first)));
    }

    at::Tensor labels_;
    bool all_count_;
    const Communicator& tp_;
    int64_t vocab_, at_once_;
};

// The same term by term, with the whole softmax kept.
class PlainCrossEntropy final : public GradientFunction {
public:
    PlainCrossEntropy(const at::Tensor& labels, const Communicator& tp, int64_t vocab)
        : labels_(labels.flatten())
        , tp_(tp)
        , vocab_(vocab)
    {
    }
    Tensors forward(const Tensors& inputs, Tensors& kept) override
    {
        const at::Tensor rows = inputs[0].contiguous().flatten(0, -2);
        shape_ = inputs[0].sizes().vec();
        type_ = rows.scalar_type();
        const int64_t part = rows.size(1), valid = valid_columns(vocab_, tp_, part);
        const at::Tensor highest = highest_of_rows(rows, valid, tp_);
        const auto [local, here] = local_ids(labels_, tp_, part);
        const at::Tensor target = logits_of_labels(rows, local, here, highest);
        const at::Tensor scores = rows.to(wide_type(rows), /*non_blocking=*/false, /*copy=*/true);
        scores.sub_(highest.unsqueeze(1)).exp_();
        scores.narrow(1, valid, part - valid).zero_();
        const at::Tensor total = scores.sum(1);
        tp_.all_reduce(total);
        tp_.all_reduce(target);
        kept = {scores.div_(total.unsqueeze(1)), local, here};
        return {total.log().sub(target).masked_fill(labels_.lt(0), 0).sum()};
    }
    Tensors backward(const Tensors& gradients, const Tensors& kept) override
    {
        const at::Tensor softmax = kept[0].detach(); // its last use
        softmax.scatter_add_(1, kept[1].unsqueeze(1), kept[2].to(softmax.scalar_type()).neg().unsqueeze(1));
        softmax.mul_(labels_.ge(0).mul(gradients[0]).unsqueeze(1));
        return {softmax.view(shape_).to(type_)};
    }

private:
    at::Tensor labels_;
    const Communicator& tp_;
    int64_t vocab_;
    std::vector<int64_t> shape_;
    at::ScalarType type_ = at::kFloat;
};
} // namespace

at::Tensor partial_embedding(const at::Tensor& tokens, const at::Tensor& table, const Communicator& tp)
{
    if (tp.size() == 1)
        return at::embedding(table, tokens);
    const auto [local, here] = local_ids(tokens, tp, table.size(0));
    return at::embedding(table, local).masked_fill(here.logical_not().unsqueeze(-1), 0);
}

at::Tensor vocabulary_cross_entropy(Kernels kernels, const at::Tensor& logits, const at::Tensor& labels, bool all_count,
    const Communicator& tp, int64_t vocab, int64_t at_once)
{
    if (kernels == Kernels::plain)
        return apply(std::make_shared<PlainCrossEntropy>(labels, tp, vocab), {logits})[0];
    return apply(std::make_shared<CrossEntropy>(labels, all_count, tp, vocab, at_once), {logits})[0];
}

} // namespace fourfold::trainer
