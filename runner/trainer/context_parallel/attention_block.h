// SPDX-License-Identifier: GPL-3.0-or-later
// Attention of some queries to some of the keys, and how such parts are put together: FlashAttention (Dao et al. 2022,
// arXiv:2205.14135, section 3.1) keeps the log-sum-exp of each query's scores, which is all that a merge needs.
//
// Queries and outputs: [b, heads, s, head_dim]; keys and values: [b, kv_heads, t, head_dim], where kv_heads divides
// heads; query head i reads key head i / (heads / kv_heads).
#pragma once

#include "runner/trainer/model/attention_rule.h"

#include <ATen/core/Tensor.h>

namespace fourfold::trainer {

struct AttentionPart {
    at::Tensor output; // normalised over the keys of this part alone
    at::Tensor log_sum; // log of the sum of exp(score) over these keys: [b, heads, s], fp32 (fp64 for fp64 queries)
};

// `asking`, `asked`: positions of the queries and of the keys. A query of which no key is seen has output 0 and log-sum
// minus infinity.
AttentionPart attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const Runs& asking,
    const Runs& asked, const AttentionRule& rule);

// Adds a further part, of other keys, to what `output` and `log_sum` hold (in place, both in the type of log_sum):
// L = log(e^L1 + e^L2), O = e^(L1-L) O1 + e^(L2-L) O2. Precondition: log_sum is finite.
void merge(const at::Tensor& output, const at::Tensor& log_sum, const AttentionPart& part);

struct AttentionGradients {
    at::Tensor query, key, value;
};
// Of one part, given output and log-sum-exp over *all* keys.
AttentionGradients attend_backward(const at::Tensor& gradient, const at::Tensor& query, const at::Tensor& key,
    const at::Tensor& value, const at::Tensor& output, const at::Tensor& log_sum, const Runs& asking, const Runs& asked,
    const AttentionRule& rule);

} // namespace fourfold::trainer
