// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/autograd/gradients_of.h"

#include <torch/csrc/autograd/autograd.h>

namespace fourfold::trainer {

std::vector<at::Tensor> gradients_of(
    const at::Tensor& output, const at::Tensor& slope, const std::vector<at::Tensor>& inputs)
{
    return torch::autograd::grad(
        {output}, inputs, {slope}, /*retain_graph=*/false, /*create_graph=*/false, /*allow_unused=*/false);
}

} // namespace fourfold::trainer
