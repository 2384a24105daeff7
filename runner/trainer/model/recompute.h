// SPDX-License-Identifier: GPL-3.0-or-later
// Activation recomputation: Chen et al. 2016 (arXiv:1604.06174).
#pragma once

#include "runner/trainer/autograd/kept_results.h"

#include <functional>
#include <optional>

namespace fourfold::trainer {

using Recomputable = std::function<std::vector<at::Tensor>(at::TensorList)>;

// block(in), keeping only `in`, and of its operations the results that `keep` chooses, for the backward pass, which
// runs the block once more. Same values and gradients, bit for bit, as the block has no random parts. The block may use
// weights that require gradients. Without gradient mode: block(in).
std::vector<at::Tensor> recomputed(
    Recomputable block, const std::vector<at::Tensor>& in, std::optional<KeptResults::Choice> keep = std::nullopt);

} // namespace fourfold::trainer
