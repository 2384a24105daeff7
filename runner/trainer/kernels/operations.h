// SPDX-License-Identifier: GPL-3.0-or-later
// The arithmetic between the matrix products as the plan chooses it (training.compile).
#pragma once

#include "core/layout/training.h"
#include "runner/trainer/kernels/fused.h"
#include "runner/trainer/kernels/plain.h"

namespace fourfold::trainer {

enum class Kernels {
    plain, // LibTorch's operations one by one (plain.h), gradients by autograd where no other rank has a part in them
    fused, // one pass each (fused.h) where there is a loop or a kernel for the device and type
};
inline Kernels kernels_of(const Training& training)
{
    return training.compile ? Kernels::fused : Kernels::plain;
}

inline at::Tensor rms_norm(Kernels kernels, const at::Tensor& x, const at::Tensor& weight, double eps)
{
    return kernels == Kernels::fused ? fused_rms_norm(x, weight, eps) : plain_rms_norm(x, weight, eps);
}
inline NormedSum normed_sum(
    Kernels kernels, const at::Tensor& x, const at::Tensor& more, const at::Tensor& weight, double eps)
{
    return kernels == Kernels::fused ? fused_normed_sum(x, more, weight, eps) : plain_normed_sum(x, more, weight, eps);
}
inline at::Tensor swiglu(Kernels kernels, const at::Tensor& gate, const at::Tensor& up)
{
    return kernels == Kernels::fused ? fused_swiglu(gate, up) : plain_swiglu(gate, up);
}
inline at::Tensor clamped_swiglu(Kernels kernels, const at::Tensor& gate, const at::Tensor& up, double limit)
{
    return kernels == Kernels::fused ? fused_clamped_swiglu(gate, up, limit) : plain_clamped_swiglu(gate, up, limit);
}
inline at::Tensor rotation(Kernels kernels, const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine)
{
    return kernels == Kernels::fused ? fused_rotation(x, cosine, sine) : plain_rotation(x, cosine, sine);
}

} // namespace fourfold::trainer
