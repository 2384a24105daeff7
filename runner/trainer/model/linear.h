// SPDX-License-Identifier: GPL-3.0-or-later
// The one matrix product with weights, with its gradients.
#pragma once

#include "runner/trainer/model/weights.h"
#include "runner/trainer/pipeline_parallel/weight_gradients.h"

namespace fourfold::trainer {

// x W^T + bias. x: [..., in]; layer.weight: [out, in], layer.bias: [out] or undefined. The weight gradient waits where
// `later` says so, with its operands: x and the output's gradient. `later` must outlive the graph.
at::Tensor linear(const at::Tensor& x, const Affine& layer, WeightGradients& later);

// Appends the gradients of the leaves, from the input and the output's gradient, both [rows, features]; undefined
// tensors where they wait.
void append_weight_gradients(std::vector<at::Tensor>& gradients, const Affine& layer, const at::Tensor& x,
    const at::Tensor& slope, WeightGradients& later);
// Weight, and bias where it is defined.
std::vector<at::Tensor> leaves_of(const Affine& layer);
// [..., features] as [rows, features].
at::Tensor as_rows(const at::Tensor& x);

} // namespace fourfold::trainer
