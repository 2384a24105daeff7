// SPDX-License-Identifier: GPL-3.0-or-later
// Causal attention of this rank's heads over this rank's tokens.
#pragma once

#include "core/model/model_shape.h"

#include <ATen/core/Tensor.h>

namespace fourfold::trainer {

// Attention with linear biases: Press et al. 2022 (arXiv:2108.12409), section 3: score(i, j) - slope * (i - j), and
// minus infinity for j > i. Heads [first, first + count) of `heads`; [1, count, seq_len, seq_len].
at::Tensor alibi_bias(int heads, int first, int count, int64_t seq_len, const at::TensorOptions& options);
// Slope of each head: 2^(-8 i / n) for i = 1 ... n where n heads are a power of two; otherwise those of the power of
// two below, then every second slope of twice that number.
std::vector<double> alibi_slopes(int heads);

// query [s, b, heads, head_dim]; key, value [s, b, kv_heads, head_dim] -> [s, b, heads * head_dim]. Scores are scaled
// by 1 / sqrt(head_dim). `bias` replaces the causal mask; undefined: none.
at::Tensor causal_attention(
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const at::Tensor& bias);

} // namespace fourfold::trainer
