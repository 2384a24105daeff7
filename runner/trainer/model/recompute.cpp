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

// Owns the block as long as the graph may need it.
struct BlockHolder : torch::CustomClassHolder {
    explicit BlockHolder(Recomputable own)
        : block(std::move(own))
    {
    }
    Recomputable block;
};

struct Recompute : Function<Recompute> {
    // `anchor` requires a gradient: without it the first block, whose input may not, would leave no node in the graph.
    static at::Tensor forward(
        AutogradContext* context, const at::TensorList& in, const at::Tensor& /*anchor*/, const Recomputable* block)
    {
        context->save_for_backward(in.vec());
        context->saved_data["block"] = c10::IValue::make_capsule(c10::make_intrusive<BlockHolder>(*block));
        const at::NoGradGuard no_graph;
        return (*block)(in);
    }
    static Gradients backward(AutogradContext* context, const Gradients& gradients)
    {
        const auto holder = c10::static_intrusive_pointer_cast<BlockHolder>(context->saved_data["block"].toCapsule());
        std::vector<at::Tensor> in;
        for (const at::Tensor& saved : context->get_saved_variables())
            in.push_back(saved.detach().requires_grad_(saved.requires_grad()));
        at::Tensor y;
        {
            const at::AutoGradMode with_graph(true);
            y = holder->block(in);
        }
        y.backward(gradients[0]); // weights' gradients are added, and their hooks run, in here
        Gradients own;
        for (const at::Tensor& x : in)
            own.push_back(x.grad());
        own.resize(in.size() + 2); // the anchor and the block
        return own;
    }
};
} // namespace

at::Tensor recomputed(Recomputable block, const std::vector<at::Tensor>& in)
{
    if (!at::GradMode::is_enabled())
        return block(in);
    const at::Tensor anchor = at::empty({0}, in.at(0).options()).requires_grad_(true);
    return Recompute::apply(at::TensorList(in), anchor, &block);
}

} // namespace fourfold::trainer
