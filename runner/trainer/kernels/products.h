// SPDX-License-Identifier: GPL-3.0-or-later
// Matrix products in fp32 on CPUs, by the faster of the two libraries that LibTorch has for them: it takes MKL, whose
// kernels for other makers' processors are slower than oneDNN's.
#pragma once

#include <ATen/core/Tensor.h>

namespace fourfold::trainer {

// x W^T + bias; bias may be undefined. x: [..., in], weight: [out, in]. Within passes without autograd, as are those
// of a GradientFunction.
at::Tensor product_with_transposed(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);
// x W. x: [rows, out].
at::Tensor product_with(const at::Tensor& x, const at::Tensor& weight);

} // namespace fourfold::trainer
