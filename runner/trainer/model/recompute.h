// SPDX-License-Identifier: GPL-3.0-or-later
// Activation recomputation: Chen et al. 2016 (arXiv:1604.06174).
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace fourfold::trainer {

using Recomputable = std::function<at::Tensor(at::TensorList)>;

// block(in), keeping only `in` for the backward pass, which runs the block once more. Same values and gradients, bit
// for bit, as the block has no random parts. The block may use weights that require gradients. Without gradient mode:
// block(in).
at::Tensor recomputed(Recomputable block, const std::vector<at::Tensor>& in);

} // namespace fourfold::trainer
