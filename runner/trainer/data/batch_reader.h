// SPDX-License-Identifier: GPL-3.0-or-later
// The micro-batches of a rank: its samples of each global batch, cut to its part of the sequences.
#pragma once

#include "core/plan/plan.h"
#include "runner/trainer/data/read_ahead.h"
#include "runner/trainer/data/sampler.h"
#include "runner/trainer/model/attention_rule.h"
#include "runner/trainer/model/targets.h"

#include <ATen/core/TensorBody.h>

namespace fourfold::trainer {

// What a rank reads: which of the plan's replicas it is, which part of the sequences is its own, and where to it goes.
struct BatchShare {
    int dp = 0, cp = 0;
    int replicas = 1; // this rank takes the samples that so many replicas would have
    at::Device device = at::kCPU; // of the training; meta: there are no values, and nothing is read
};

// The global batch of a step, or of an evaluation.
struct GlobalBatch {
    bool training = true;
    int64_t first = 0; // sample of the run, or window of the evaluation
    int micro_batches = 0; // of each replica
};
// Of a step, counted from 0.
GlobalBatch global_batch(const ResolvedPlan& plan, int step);

class BatchReader {
public:
    // `data`, `held_out`: null where there are none. All must outlive the reader.
    BatchReader(const ResolvedPlan& plan, BatchShare share, const Sampler* data, const Sampler* held_out);

    struct Batch {
        at::Tensor tokens, labels; // [seq_len / cp, micro_batch] each
        std::vector<Targets::Ahead> ahead; // of the model's modules that predict further ahead
        DocumentMask documents;
        int64_t valid = 0; // labels that count
    };
    // The next one, `following`, is read meanwhile: micro-batches come in rising order, a step after the other.
    Expected<Batch> read(const GlobalBatch& batch, int micro_batch, const GlobalBatch* following);

private:
    // [n, micro_batch, seq_len] int64 in the host's memory, pinned where it goes to a GPU: tokens, labels, where
    // documents are masked starts, and for each module that predicts further ahead its tokens and its labels. Made by
    // who asks for them, and filled beside it.
    [[nodiscard]] at::Tensor room() const;
    [[nodiscard]] Expected<at::Tensor> samples(const GlobalBatch& batch, int micro_batch, at::Tensor room) const;
    [[nodiscard]] Batch own_part(const at::Tensor& read) const;
    // On a CPU that is rehearsed, whose memory is the host's: no values, but what is read and read ahead takes room.
    [[nodiscard]] Batch rehearsed(bool read_ahead);
    [[nodiscard]] Expected<void> fill(const GlobalBatch& batch, int64_t index, Sampler::Sequence out) const;

    const ResolvedPlan& plan_;
    BatchShare share_;
    const Sampler *data_, *held_out_;
    ReadAhead ahead_;
    at::Tensor here_, next_; // of rehearsed()
};

} // namespace fourfold::trainer
