// SPDX-License-Identifier: GPL-3.0-or-later
// Activation recomputation: Chen et al. 2016 (arXiv:1604.06174).
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace fourfold::trainer {

// block(x), keeping only x for the backward pass, which runs the block once more. Same values and gradients, bit for
// bit, as the block has no random parts. The block may use weights that require gradients. Without gradient mode:
// block(x).
at::Tensor recomputed(std::function<at::Tensor(const at::Tensor&)> block, const at::Tensor& x);

} // namespace fourfold::trainer
