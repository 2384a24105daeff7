// SPDX-License-Identifier: GPL-3.0-or-later
// Asynchronous tensor parallelism: products whose inputs are gathered, or whose outputs are scattered, along the
// sequence, piece by piece while other pieces are multiplied (pieces.h), forward and backward.
#pragma once

#include "runner/trainer/comm/communicator.h"
#include "runner/trainer/model/linear.h"

namespace fourfold::trainer {

// As RegionProducts::enter() and leave() with sequence parallelism. `tp`, `later` and `fp8`, which may be null, must
// outlive the graph.
std::vector<at::Tensor> gathered_products(const at::Tensor& x, const std::vector<Affine>& layers,
    const Communicator& tp, WeightGradients& later, const Fp8Products* fp8);
at::Tensor scattered_product(const at::Tensor& x, const at::Tensor& weight, const Communicator& tp,
    WeightGradients& later, const Fp8Products* fp8);

} // namespace fourfold::trainer
