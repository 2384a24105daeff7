// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/autograd/gradients_of.h"

#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/variable.h>

namespace fourfold::trainer {

std::vector<at::Tensor> gradients_of(
    const at::Tensor& output, const at::Tensor& slope, const std::vector<at::Tensor>& inputs)
{
    return torch::autograd::grad(
        {output}, inputs, {slope}, /*retain_graph=*/false, /*create_graph=*/false, /*allow_unused=*/false);
}

at::Tensor root_of(const at::Tensor& output)
{
    at::Tensor root = at::empty({0}, output.options().requires_grad(false));
    if (output.grad_fn() != nullptr)
        torch::autograd::impl::set_gradient_edge(root, torch::autograd::impl::gradient_edge(output));
    return root;
}

} // namespace fourfold::trainer
