// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace fourfold::trainer {

// The gradients of `inputs`, in order, from that of `output`, whose graph is used up. Nothing is added to a leaf, and
// no hook of one runs. Throws where one of them has none.
std::vector<at::Tensor> gradients_of(
    const at::Tensor& output, const at::Tensor& slope, const std::vector<at::Tensor>& inputs);

// Where the backward pass through the graph of `output` begins, without the memory of its values: for those whose
// consumer has values of its own, and which no operation of this graph needs again. As `output` for gradients_of() and
// a backward pass.
at::Tensor root_of(const at::Tensor& output);

} // namespace fourfold::trainer
