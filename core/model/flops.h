// SPDX-License-Identifier: GPL-3.0-or-later
// Model FLOPs: the conventions behind "MFU" and "TFLOP/s per GPU".
#pragma once

#include "core/layout/training.h"
#include "core/model/model_shape.h"

namespace fourfold {

// PaLM, appendix B: 6 * active matmul parameters + 12 * layers * heads * head_dim * seq_len, per token.
// `causal` counts half of the attention square.
double model_flops_per_token(const ModelShape& model, int64_t seq_len, bool causal = false);

// FLOPs per token as the stack's own log prints them (formulas in the published tables' README):
// megatron_lm: 12 tokens L h^2 (1 + kv/heads + s/h + ffn/h * (1.5 gated | 1) + V/(2 L h)) with the padded vocabulary,
// bloom_*: 96 or 8*12 L h^2 ... counting the recomputed forward, palm: model_flops_per_token.
double reported_flops_per_token(
    const ModelShape& model, int64_t padded_vocab, int64_t seq_len, FlopConvention convention);

} // namespace fourfold
