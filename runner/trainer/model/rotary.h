// SPDX-License-Identifier: GPL-3.0-or-later
// Rotary position embedding: Su et al. 2021 (arXiv:2104.09864), in Hugging Face's "rotate half" layout.
#pragma once

#include "core/model/model_shape.h"
#include "runner/trainer/kernels/operations.h"

#include <ATen/core/Tensor.h>

#include <vector>

namespace fourfold::trainer {

struct RotaryFrequencies {
    std::vector<double> each; // angle per position of each plane
    double magnitude = 1; // of cosines and sines
};
// Of the `dim` / 2 planes of a head: theta^(-2i/dim), scaled as the config says, for sequences of `seq_len` tokens.
//   linear    by 1 / factor
//   dynamic   of a theta that grows where sequences are longer than original_positions (NTK-aware)
//   llama3    (Llama 3.1): waves longer than original_positions / low_freq_factor by 1 / factor, waves shorter than
//             original_positions / high_freq_factor not at all, linear interpolation in between
//   yarn      Peng et al. 2023 (arXiv:2309.00071), section 3.2 and 3.4: a ramp over the planes, and a magnitude
//   longrope  Ding et al. 2024 (arXiv:2402.13753): by 1 / a factor of each plane, of the short or of the long list
RotaryFrequencies rotary_frequencies(
    const RopeScaling& scaling, double theta, int64_t dim, int64_t max_positions, int64_t seq_len);

// By which yarn multiplies the scale of the scores under latent attention: the square of its magnitude by
// mscale_all_dim (Hugging Face's DeepseekV3Attention). 1 for other kinds and where that is not given.
double latent_score_factor(const RopeScaling& scaling);

// Cosines and sines for the given positions in the sequence, each [positions, planes], or for positions that differ
// from sequence to sequence, each [s, b, planes].
struct RotaryTable {
    at::Tensor cosine, sine;
};
RotaryTable rotary_table(
    const RotaryFrequencies& frequencies, const std::vector<int64_t>& positions, const at::TensorOptions& options);

// x: [s, b, heads, head_dim] for the positions of the table; what lies beyond its planes is not turned. Computed in the
// table's type, returned in that of x.
at::Tensor rotate(Kernels kernels, const at::Tensor& x, const RotaryTable& table);

} // namespace fourfold::trainer
