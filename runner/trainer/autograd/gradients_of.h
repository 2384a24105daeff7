// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace fourfold::trainer {

// The gradients of `inputs`, in order, from that of `output`, whose graph is used up. Nothing is added to a leaf, and
// no hook of one runs. Throws where one of them has none.
std::vector<at::Tensor> gradients_of(
    const at::Tensor& output, const at::Tensor& slope, const std::vector<at::Tensor>& inputs);

} // namespace fourfold::trainer
