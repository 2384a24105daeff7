// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/recompute.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

namespace fourfold::trainer {

namespace {
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using Gradients = torch::autograd::variable_list;

// Owns the block, and what is kept of it, as long as the graph may need it.
struct BlockHolder : torch::CustomClassHolder {
    BlockHolder(Recomputable own, std::optional<KeptResults::Choice> keep)
        : block(std::move(own))
    {
        if (keep)
            results.emplace(*keep);
    }
    Gradients run(at::TensorList in, bool repeated)
    {
        std::optional<KeptResults::Use> use;
        if (results)
            use.emplace(*results, repeated);
        return block(in);
    }
    Recomputable block;
    std::optional<KeptResults> results;
};

struct Recompute : Function<Recompute> {
    // `anchor` requires a gradient: without it the first block, whose input may not, would leave no node in the graph.
    static Gradients forward(AutogradContext* context, const at::TensorList& in, const at::Tensor& /*anchor*/,
        const c10::intrusive_ptr<BlockHolder>* block)
    {
        context->save_for_backward(in.vec());
        context->saved_data["block"] = c10::IValue::make_capsule(*block);
        const at::NoGradGuard no_graph;
        return (*block)->run(in, false);
    }
    static Gradients backward(AutogradContext* context, const Gradients& gradients)
    {
        const auto holder = c10::static_intrusive_pointer_cast<BlockHolder>(context->saved_data["block"].toCapsule());
        std::vector<at::Tensor> in;
        for (const at::Tensor& saved : context->get_saved_variables())
            in.push_back(saved.detach().requires_grad_(saved.requires_grad()));
        Gradients outputs;
        {
            const at::AutoGradMode with_graph(true);
            outputs = holder->run(in, true);
        }
        torch::autograd::backward(outputs, gradients); // weights' gradients are added, and their hooks run, in here
        Gradients own;
        for (const at::Tensor& x : in)
            own.push_back(x.grad());
        own.resize(in.size() + 2); // the anchor and the block
        return own;
    }
};
} // namespace

std::vector<at::Tensor> recomputed(
    Recomputable block, const std::vector<at::Tensor>& in, std::optional<KeptResults::Choice> keep)
{
    if (!at::GradMode::is_enabled())
        return block(in);
    const at::Tensor anchor = at::empty({0}, in.at(0).options()).requires_grad_(true);
    const auto holder = c10::make_intrusive<BlockHolder>(std::move(block), keep);
    return Recompute::apply(at::TensorList(in), anchor, &holder);
}

} // namespace fourfold::trainer
