// SPDX-License-Identifier: GPL-3.0-or-later
// Products with what goes before them, on CPUs: the input of a product is not kept for the weight gradient where it
// follows from what is kept anyway. A norm's output is made again from the stream, an MLP's activation beside the
// gradients that its sigmoid is made for once more in any case, and the gradients take the place of its inputs.
#pragma once

#include "runner/trainer/model/linear.h"

namespace fourfold::trainer {

// Whether this pass over x, whose gradient will be wanted, can: of one thread of operations, in fp32 or fp64, where no
// results are kept for another pass.
bool makes_inputs_again(const at::Tensor& x, const at::Tensor& weight);

// Of RMSNorm(x) by `scales`; `later` must outlive the graph.
std::vector<at::Tensor> normed_products(const at::Tensor& x, const at::Tensor& scales, double eps,
    const std::vector<Affine>& layers, WeightGradients& later);
// Of RMSNorm(x + more). The sum is first among the results.
std::vector<at::Tensor> normed_sum_products(const at::Tensor& x, const at::Tensor& more, const at::Tensor& scales,
    double eps, const std::vector<Affine>& layers, WeightGradients& later);
// Of SwiGLU(gate, up). The backward pass writes their gradients over gate and up: what made them must not need them.
at::Tensor gated_product(const at::Tensor& gate, const at::Tensor& up, const Affine& layer, WeightGradients& later);

} // namespace fourfold::trainer
