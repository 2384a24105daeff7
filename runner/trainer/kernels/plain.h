// SPDX-License-Identifier: GPL-3.0-or-later
// The formulas of fused.h as they are written down: an operation of LibTorch for each term, on every device and type,
// with autograd's gradients. What is in 16 bits is computed in fp32 and rounded once, at the end.
#pragma once

#include <ATen/core/Tensor.h>

namespace fourfold::trainer {

at::Tensor plain_rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);

// x + more, and its norm.
struct NormedSum {
    at::Tensor sum, normed;
};
NormedSum plain_normed_sum(const at::Tensor& x, const at::Tensor& more, const at::Tensor& weight, double eps);

at::Tensor plain_swiglu(const at::Tensor& gate, const at::Tensor& up);
at::Tensor plain_clamped_swiglu(const at::Tensor& gate, const at::Tensor& up, double limit);
at::Tensor plain_rotation(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine);

} // namespace fourfold::trainer
