// SPDX-License-Identifier: GPL-3.0-or-later
// Causal attention over a sequence that context-parallel ranks share, each holding its part by slice.h.
#pragma once

#include "core/layout/training.h"
#include "runner/trainer/comm/communicator.h"
#include "runner/trainer/model/attention_rule.h"

namespace fourfold::trainer {

// query: [s / cp, b, heads, head_dim] of this rank's positions; key, value: [s / cp, b, kv_heads, head_dim]; sinks:
// [heads], or undefined. Returns the attention of these queries to what they see of the whole sequence, [s / cp, b,
// heads * head_dim].
//   ring        Ring Attention (Liu et al. 2023, arXiv:2310.01889): keys and values travel from rank to rank while the
//               last ones are used; in the backward pass their gradients travel along, home in the end.
//   all_gather  every rank gets all keys and values, in the backward pass once more (Llama 3, arXiv:2407.21783, section
//               3.3.2); their gradients are reduce-scattered.
//   ulysses     every rank gets all positions of some of the heads (head_exchange.h). Where there are fewer key heads
//               than ranks, several get the same one.
// One rank alone: attention.h. `cp` must outlive the backward pass.
at::Tensor context_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const at::Tensor& sinks, const AttentionRule& rule, const Communicator& cp, CpMethod method);

} // namespace fourfold::trainer
