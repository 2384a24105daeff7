// SPDX-License-Identifier: GPL-3.0-or-later
// The two ends of the model, split over the vocabulary. No rank ever holds the logits of the whole vocabulary.
#pragma once

#include "runner/trainer/comm/communicator.h"
#include "runner/trainer/kernels/operations.h"

#include <cstdint>

namespace fourfold::trainer {

// This rank's share of the embedding lookup: rows of the tokens that lie in its part of the vocabulary, zero elsewhere;
// the sum over the TP group is the embedding (leave_region makes it). tokens: [s, b] int64; table: [vocab / tp, h].
at::Tensor partial_embedding(const at::Tensor& tokens, const at::Tensor& table, const Communicator& tp);

// Sum over all labels of the cross-entropy in nats. logits: [s, b, vocab / tp], this rank's part of the padded
// vocabulary; labels: [s, b] int64, below 0 where there is none (`all_count`: nowhere). Ids from `vocab` on are padding
// of the vocabulary and take no part. Same value on every TP rank. Computed in fp32 (fp64 for fp64 logits), of which
// only `at_once` elements, whole rows, are in memory; none on a GPU, where a kernel reads the logits once
// (kernels/gpu_kernels.h). The backward pass writes the gradient over the logits: what made them must not need them.
// Plain: the softmax of all rows at once is in memory, and the gradient is a tensor of its own.
constexpr int64_t kLossElementsAtOnce = int64_t(1) << 20; // 4 MiB in fp32
at::Tensor vocabulary_cross_entropy(Kernels kernels, const at::Tensor& logits, const at::Tensor& labels, bool all_count,
    const Communicator& tp, int64_t vocab, int64_t at_once = kLossElementsAtOnce);

} // namespace fourfold::trainer
