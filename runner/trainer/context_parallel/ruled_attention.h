// SPDX-License-Identifier: GPL-3.0-or-later
// attention_block.h for any rule, device and type, as the formulas are written: a block of queries at a time to the
// keys that one of them may see, so that no more than the scores of a block are in memory.
#pragma once

#include "runner/trainer/context_parallel/attention_block.h"

namespace fourfold::trainer {

AttentionPart attend_by_rule(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const Runs& asking, const Runs& asked, const AttentionRule& rule);
AttentionGradients attend_backward_by_rule(const at::Tensor& gradient, const at::Tensor& query, const at::Tensor& key,
    const at::Tensor& value, const at::Tensor& output, const at::Tensor& log_sum, const Runs& asking, const Runs& asked,
    const AttentionRule& rule);

// What a rule adds to the scores of queries at some positions and keys at some, and which it hides: [heads or 1,
// queries, keys], or, with documents, [b, heads or 1, queries, keys]; minus infinity for what is not seen. Positions:
// int64.
at::Tensor score_bias(
    const at::Tensor& queries, const at::Tensor& keys, const AttentionRule& rule, const at::TensorOptions& options);

} // namespace fourfold::trainer
