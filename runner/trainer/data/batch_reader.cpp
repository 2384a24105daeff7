// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/data/batch_reader.h"

#include "core/layout/batch_ramp.h"
#include "runner/trainer/context_parallel/slice.h"
#include "runner/trainer/device/kind.h"
#include "runner/trainer/rehearsal/lasting.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

namespace fourfold::trainer {

namespace {
std::shared_ptr<const std::vector<int64_t>> least_of(const at::Tensor& starts)
{
    const at::Tensor least = starts.amin(0);
    if (least.is_meta()) // all of one document
        return std::make_shared<const std::vector<int64_t>>(std::size_t(least.numel()), 0);
    const auto* values = least.const_data_ptr<int64_t>();
    return std::make_shared<const std::vector<int64_t>>(values, values + least.numel());
}
} // namespace

namespace {
// Of a sequence of `s` tokens, for the module that looks `depth` further than the head: the tokens so many places on,
// and the labels of those. A label counts where all before it do, and ends with the sample.
void look_ahead(const int64_t* tokens, const int64_t* labels, int64_t s, int depth, int64_t* out, int64_t* out_labels)
{
    for (int64_t i = 0; i < s; ++i) {
        const int64_t at = i + depth;
        out[i] = at < s ? tokens[at] : at == s ? std::max<int64_t>(labels[s - 1], 0) : 0;
        const bool counts
            = at < s && std::all_of(labels + i, labels + at + 1, [](int64_t label) { return label >= 0; });
        out_labels[i] = counts ? labels[at] : Sampler::kNoLabel;
    }
}
} // namespace

GlobalBatch global_batch(const ResolvedPlan& plan, int step)
{
    const StepBatch batch = step_batch(plan.training, step);
    return {true, int64_t(batch.first), batch.size / (plan.training.micro_batch * plan.layout.dp)};
}

BatchReader::BatchReader(const ResolvedPlan& plan, BatchShare share, const Sampler* data, const Sampler* held_out)
    : plan_(plan)
    , share_(share)
    , data_(data)
    , held_out_(held_out)
{
}

Expected<void> BatchReader::fill(const GlobalBatch& batch, int64_t index, Sampler::Sequence out) const
{
    const Training& training = plan_.training;
    if (!batch.training)
        return held_out_->window(batch.first + index, out);
    // In the order of a run without ramp-up: which sequences follow which does not depend on how many a step takes.
    if (data_ != nullptr)
        return data_->sample(batch.first + index, training.global_batch, out);
    for (int64_t* values : {out.tokens, out.labels, out.starts})
        if (values != nullptr)
            std::fill_n(values, training.seq_len, 0);
    return {};
}

at::Tensor BatchReader::room() const
{
    const at::Device device = on_cpu(share_.device) ? share_.device : at::Device(at::kCPU);
    const int rows = (plan_.run.documents.mask ? 3 : 2) + 2 * plan_.model.predicted_ahead;
    return at::empty({rows, plan_.training.micro_batch, plan_.training.seq_len},
        at::TensorOptions(at::kLong).device(device).pinned_memory(share_.device.is_cuda()));
}

// The global batch is dealt to the replicas in blocks: replica r has samples [r, r + 1) * global_batch / dp.
Expected<at::Tensor> BatchReader::samples(const GlobalBatch& batch, int micro_batch, at::Tensor room) const
{
    const int64_t s = plan_.training.seq_len, b = plan_.training.micro_batch;
    const int64_t part = b / share_.replicas, replica = int64_t(share_.dp) * share_.replicas;
    const bool masked = plan_.run.documents.mask;
    const int modules = plan_.model.predicted_ahead;
    auto* const tokens = room.data_ptr<int64_t>();
    for (int64_t i = 0; i < b; ++i)
        FOURFOLD_CHECK(fill(batch, ((replica + i / part) * batch.micro_batches + micro_batch) * part + i % part,
            {tokens + i * s, tokens + (b + i) * s, masked ? tokens + (2 * b + i) * s : nullptr}));
    for (int depth = 1; depth <= modules; ++depth) {
        int64_t* const ahead = tokens + (room.size(0) - 2 * (modules - depth + 1)) * b * s;
        for (int64_t i = 0; i < b; ++i)
            look_ahead(tokens + i * s, tokens + (b + i) * s, s, depth, ahead + i * s, ahead + (b + i) * s);
    }
    return room;
}

BatchReader::Batch BatchReader::own_part(const at::Tensor& read) const
{
    const auto own = [&](const at::Tensor& whole) {
        const at::Tensor part
            = context_part(whole.t(), share_.cp, plan_.layout.cp, plan_.training.cp_method).contiguous();
        return part.is_alias_of(whole) ? part.clone() : part; // what was read goes
    };
    const at::Tensor there = read.to(share_.device, /*non_blocking=*/true);
    Batch out{own(there[0]), own(there[1]), {}, {}, 0};
    const at::Tensor valid = own(read[1]).ne(Sampler::kNoLabel).sum();
    out.valid = valid.is_meta() ? out.labels.numel() : valid.item<int64_t>();
    if (plan_.run.documents.mask)
        out.documents = {there[2].clone(), least_of(read[2])};
    for (int64_t row = plan_.run.documents.mask ? 3 : 2; row < there.size(0); row += 2)
        out.ahead.push_back({own(there[row]), own(there[row + 1])});
    return out;
}

BatchReader::Batch BatchReader::rehearsed(bool read_ahead)
{
    lasting({"read"}, [this] {
        if (!here_.defined())
            here_ = room();
    });
    lasting({"read ahead", int64_t(read_ahead)}, [this, read_ahead] {
        if (read_ahead)
            next_ = room();
    });
    Batch out = own_part(here_);
    lasting({"was read"}, [this] { here_ = std::exchange(next_, {}); });
    return out;
}

Expected<BatchReader::Batch> BatchReader::read(const GlobalBatch& batch, int micro_batch, const GlobalBatch* following)
{
    const bool more = micro_batch + 1 < batch.micro_batches;
    if (share_.device.is_meta() && on_cpu(share_.device))
        return rehearsed(more || following != nullptr);
    const auto reading = [this](const GlobalBatch& of, int index) {
        return [this, of, index, own = room()] { return samples(of, index, own); };
    };
    const auto key = [](const GlobalBatch& of, int index) {
        return ReadAhead::Key{of.training ? of.first : -1 - of.first, index};
    };
    FOURFOLD_TRY(const at::Tensor read,
        ahead_.take(key(batch, micro_batch), [&] { return samples(batch, micro_batch, room()); }));
    if (more)
        ahead_.ask(key(batch, micro_batch + 1), reading(batch, micro_batch + 1));
    else if (following != nullptr)
        ahead_.ask(key(*following, 0), reading(*following, 0));
    return own_part(read);
}

} // namespace fourfold::trainer
