// SPDX-License-Identifier: GPL-3.0-or-later
// Queries, keys and values from latents of low rank: multi-head latent attention (DeepSeek-V2, arXiv:2405.04434,
// section 2.1), in which only a part of each head is rotated, the keys' part alike for all heads.
#pragma once

#include "core/model/model_shape.h"
#include "runner/trainer/kernels/operations.h"
#include "runner/trainer/model/rotary.h"
#include "runner/trainer/model/weights.h"
#include "runner/trainer/tensor_parallel/region_products.h"

namespace fourfold::trainer {

class LatentProjections {
public:
    // Of this rank's heads; its weights are whole but for those that make heads.
    LatentProjections(const ModelShape& shape, const Weights& weights, int layer);

    struct Heads {
        // [s, b, heads, head_dim]; values are [s, b, heads, value_head_dim]. What is narrower is filled up to the other
        // with zeros: kernels want one width.
        at::Tensor query, key, value;
    };
    // x: [rows, b, hidden], this rank's rows of the normed stream. `rotary`: of the rotated part, for all s positions.
    [[nodiscard]] Heads forward(
        const at::Tensor& x, const RotaryTable& rotary, const RegionProducts& products, Kernels kernels) const;
    // Attention's output, [s, b, heads * width of the values as given], without what filled them up.
    [[nodiscard]] at::Tensor without_filling(const at::Tensor& mixed) const;

private:
    const ModelShape& shape_;
    at::Tensor query_, query_down_, query_norm_, query_up_; // the first alone, or the others
    at::Tensor kv_down_, kv_norm_, kv_up_;
};

} // namespace fourfold::trainer
