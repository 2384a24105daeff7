// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/linear.h"

#include "runner/trainer/autograd/gradient_function.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/linear.h>

namespace fourfold::trainer {

namespace {
class Linear final : public GradientFunction {
public:
    Linear(Affine layer, WeightGradients& later)
        : layer_(std::move(layer))
        , later_(later)
    {
    }
    Tensors forward(const Tensors& inputs, Tensors& kept) override
    {
        kept = {inputs[0]};
        return {at::linear(inputs[0], layer_.weight, layer_.bias)};
    }
    Tensors backward(const Tensors& gradients, const Tensors& kept) override
    {
        const at::Tensor slope = as_rows(gradients[0]);
        Tensors slopes{slope.mm(layer_.weight).view(kept[0].sizes())};
        append_weight_gradients(slopes, layer_, as_rows(kept[0]), slope, later_);
        return slopes;
    }

private:
    Affine layer_;
    WeightGradients& later_;
};
} // namespace

at::Tensor as_rows(const at::Tensor& x)
{
    return x.reshape({-1, x.size(-1)});
}

std::vector<at::Tensor> leaves_of(const Affine& layer)
{
    return layer.bias.defined() ? std::vector{layer.weight, layer.bias} : std::vector{layer.weight};
}

void append_weight_gradients(std::vector<at::Tensor>& gradients, const Affine& layer, const at::Tensor& x,
    const at::Tensor& slope, WeightGradients& later)
{
    // Detached: what autograd saved still holds on to the graph before it, and that to the chunk's input.
    const WeightGradients::Work work = [x = x.detach(), slope, bias = layer.bias.defined()] {
        std::vector<at::Tensor> own{slope.t().mm(x)};
        if (bias)
            own.push_back(slope.sum(0));
        return own;
    };
    const auto weights = leaves_of(layer);
    const auto own = later.postpone(weights, work) ? std::vector<at::Tensor>(weights.size()) : work();
    gradients.insert(gradients.end(), own.begin(), own.end());
}

at::Tensor linear(const at::Tensor& x, const Affine& layer, WeightGradients& later)
{
    if (!at::GradMode::is_enabled())
        return at::linear(x, layer.weight, layer.bias);
    std::vector<at::Tensor> inputs{x};
    for (const at::Tensor& leaf : leaves_of(layer))
        inputs.push_back(leaf);
    return trainer::apply(std::make_shared<Linear>(layer, later), inputs)[0];
}

} // namespace fourfold::trainer
