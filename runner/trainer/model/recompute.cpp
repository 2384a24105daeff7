// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/recompute.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

namespace fourfold::trainer {

namespace {
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using Gradients = torch::autograd::variable_list;
using Block = std::function<at::Tensor(const at::Tensor&)>;

// Owns the block as long as the graph may need it.
struct BlockHolder : torch::CustomClassHolder {
    explicit BlockHolder(Block own)
        : block(std::move(own))
    {
    }
    Block block;
};

struct Recompute : Function<Recompute> {
    // `anchor` requires a gradient: without it the first block, whose x may not, would leave no node in the graph.
    static at::Tensor forward(
        AutogradContext* context, const at::Tensor& x, const at::Tensor& /*anchor*/, const Block* block)
    {
        context->save_for_backward({x});
        context->saved_data["block"] = c10::IValue::make_capsule(c10::make_intrusive<BlockHolder>(*block));
        const at::NoGradGuard no_graph;
        return (*block)(x);
    }
    static Gradients backward(AutogradContext* context, const Gradients& gradients)
    {
        const auto holder = c10::static_intrusive_pointer_cast<BlockHolder>(context->saved_data["block"].toCapsule());
        const at::Tensor saved = context->get_saved_variables()[0];
        const at::Tensor x = saved.detach().requires_grad_(saved.requires_grad());
        at::Tensor y;
        {
            const at::AutoGradMode with_graph(true);
            y = holder->block(x);
        }
        y.backward(gradients[0]); // weights' gradients are added, and their hooks run, in here
        return {x.grad(), at::Tensor(), at::Tensor()};
    }
};
} // namespace

at::Tensor recomputed(std::function<at::Tensor(const at::Tensor&)> block, const at::Tensor& x)
{
    if (!at::GradMode::is_enabled())
        return block(x);
    const at::Tensor anchor = at::empty({0}, x.options()).requires_grad_(true);
    return Recompute::apply(x, anchor, &block);
}

} // namespace fourfold::trainer
