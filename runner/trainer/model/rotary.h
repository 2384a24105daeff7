// SPDX-License-Identifier: GPL-3.0-or-later
// Rotary position embedding: Su et al. 2021 (arXiv:2104.09864), in Hugging Face's "rotate half" layout.
#pragma once

#include "core/model/model_shape.h"

#include <ATen/core/Tensor.h>

#include <vector>

namespace fourfold::trainer {

// Angle per position of each of the head_dim / 2 planes: theta^(-2i/head_dim), scaled as the config says: "linear" by
// 1 / factor; "llama3" (Llama 3.1): waves longer than original_positions / low_freq_factor by 1 / factor, waves shorter
// than original_positions / high_freq_factor not at all, linear interpolation in between.
std::vector<double> rotary_frequencies(const ModelShape& model);

// Cosines and sines for the given positions in the sequence, each [positions, head_dim / 2].
struct RotaryTable {
    at::Tensor cosine, sine;
};
RotaryTable rotary_table(
    const ModelShape& model, const std::vector<int64_t>& positions, const at::TensorOptions& options);

// x: [s, b, heads, head_dim] for the positions of the table. Computed in the table's type, returned in that of x.
at::Tensor rotate(const at::Tensor& x, const RotaryTable& table);

} // namespace fourfold::trainer
