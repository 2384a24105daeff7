// SPDX-License-Identifier: GPL-3.0-or-later
// The arithmetic between the matrix products of the Llama family, with hand-written gradients: one pass each on the CPU
// in fp32 and fp64 (cpu_loops.h), all but the norm alone, which LibTorch has, also on a GPU in fp32, bf16 and fp16
// (gpu_kernels.h); LibTorch's operations elsewhere. plain.h has the same formulas operation by operation.
#pragma once

#include "runner/trainer/kernels/plain.h"

namespace fourfold::trainer {

// RMSNorm (Zhang and Sennrich 2019, arXiv:1910.07467) over the last dimension: x / sqrt(mean(x^2) + eps) * weight.
at::Tensor fused_rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);
// The residual stream with what a region adds to it, and its norm for the next region.
NormedSum fused_normed_sum(const at::Tensor& x, const at::Tensor& more, const at::Tensor& weight, double eps);

// SwiGLU (Shazeer 2020, arXiv:2002.05202): gate * sigmoid(gate) * up, element by element.
at::Tensor fused_swiglu(const at::Tensor& gate, const at::Tensor& up);

// (up' + 1) gate' sigmoid(1.702 gate'), gate' = min(gate, limit), up' = up between -limit and limit (GPT-OSS,
// arXiv:2508.10925, section 2).
at::Tensor fused_clamped_swiglu(const at::Tensor& gate, const at::Tensor& up, double limit);

// Rotary position embedding, see model/rotary.h. x: [s, b, heads, head_dim]; cosine, sine: [s, head_dim / 2], or
// [s, b, head_dim / 2].
at::Tensor fused_rotation(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine);

} // namespace fourfold::trainer
