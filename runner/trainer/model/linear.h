// SPDX-License-Identifier: GPL-3.0-or-later
// The one matrix product with weights, with its gradients.
#pragma once

#include "runner/trainer/model/weights.h"
#include "runner/trainer/pipeline_parallel/weight_gradients.h"
#include "runner/trainer/tensor_parallel/fp8_products.h"

#include <memory>

namespace fourfold::trainer {

// Of tensor parallelism: output features, input features; or no features, but the rows of x.
enum class CutOver { columns, rows, tokens };

// In which numbers a linear's products are, and what fp8 has to know for that.
struct ProductRules {
    const Fp8Products* fp8 = nullptr; // null: in those of x. It must outlive the graph
    CutOver cut = CutOver::columns;
    bool summed = false; // over the ranks, and used in no other way
    at::Tensor largest_x{}; // of x, where the caller knows it already
    // Where several take one x: the first fills it with x rounded, the others use that, and the caller empties it.
    std::shared_ptr<Fp8Products::Factor> rounded_x{};
};

// x W^T + bias. x: [..., in]; layer.weight: [out, in], layer.bias: [out] or undefined. The weight gradient waits where
// `later` says so, with its operands: x and the output's gradient. `later` must outlive the graph.
at::Tensor linear(const at::Tensor& x, const Affine& layer, WeightGradients& later, const ProductRules& rules = {});

// A tensor with its largest magnitude, which is undefined where nobody asks for it.
struct Measured {
    at::Tensor tensor, largest{};
};
// Appends the gradients of the leaves, from the input and the output's gradient, both [..., features]; undefined
// tensors where they wait. `beside_messages`: nobody waits for them but the end of the pass (WeightGradients::leave).
enum class Due { now, beside_messages };
void append_weight_gradients(std::vector<at::Tensor>& gradients, const Affine& layer, const Measured& x,
    const Measured& slope, WeightGradients& later, const Fp8Products* fp8 = nullptr,
    Fp8Products::Sums sums = Fp8Products::Sums::tokens, Due due = Due::now);
// A weight gradient that products add to its sum as rows come; null where it is due as a whole, which
// append_weight_gradients() gives then.
const WeightGradients::Sum* sum_by_rows(const at::Tensor& weight, const WeightGradients& later, const Fp8Products* fp8);
void add_rows(const WeightGradients::Sum& sum, const at::Tensor& x, const at::Tensor& slope);
// Weight, and bias where it is defined.
std::vector<at::Tensor> leaves_of(const Affine& layer);
// [..., features] as [rows, features].
at::Tensor as_rows(const at::Tensor& x);

} // namespace fourfold::trainer
