// SPDX-License-Identifier: GPL-3.0-or-later
// Causal attention of this rank's heads over whole sequences.
#pragma once

#include "core/model/model_shape.h"
#include "runner/trainer/autograd/gradient_function.h"
#include "runner/trainer/model/attention_rule.h"

namespace fourfold::trainer {

// Attention with linear biases: Press et al. 2022 (arXiv:2108.12409), section 3: score(i, j) - slope * (i - j). Slope
// of each head: 2^(-8 i / n) for i = 1 ... n where n heads are a power of two; otherwise those of the power of two
// below, then every second slope of twice that number.
std::vector<double> alibi_slopes(int heads);

// query [s, b, heads, head_dim]; key, value [t, b, kv_heads, head_dim]; sinks [heads], or undefined -> [s, b, heads *
// head_dim]. Fewer queries than keys are those of the last positions. By the kernel of the rule: flash2 keeps no
// scores; unfused and fused_softmax keep all of them, the latter with scale and bias in the product and the softmax in
// one kernel.
at::Tensor causal_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const at::Tensor& sinks, const AttentionRule& rule);

// An operation of sequence_attention.h on tensors as above.
at::Tensor apply_attention(const std::shared_ptr<GradientFunction>& function, const at::Tensor& query,
    const at::Tensor& key, const at::Tensor& value, const at::Tensor& sinks);

} // namespace fourfold::trainer
