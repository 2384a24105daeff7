// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/linear.h"

#include "runner/trainer/autograd/kept_results.h"
#include "runner/trainer/kernels/products.h"

#include <ATen/core/grad_mode.h>

namespace fourfold::trainer {

namespace {
using Of = Fp8Products::Of;
using Sums = Fp8Products::Sums;

class Linear final : public GradientFunction {
public:
    Linear(Affine layer, WeightGradients& later, bool summed)
        : layer_(std::move(layer))
        , later_(later)
        , summed_(summed)
    {
    }
    Tensors forward(const Tensors& inputs, Tensors& kept) override
    {
        kept = {inputs[0]};
        return {product_with_transposed(inputs[0], layer_.weight, layer_.bias)};
    }
    [[nodiscard]] Repeat repeat() const override { return summed_ ? Repeat::summed : Repeat::product; }
    Tensors backward(const Tensors& gradients, const Tensors& kept) override
    {
        const at::Tensor slope = as_rows(gradients[0]);
        Tensors slopes{product_with(slope, layer_.weight).view(kept[0].sizes())};
        append_weight_gradients(slopes, layer_, {kept[0]}, {slope}, later_);
        return slopes;
    }

private:
    Affine layer_;
    WeightGradients& later_;
    bool summed_;
};

class Fp8Linear final : public GradientFunction {
public:
    Fp8Linear(Affine layer, WeightGradients& later, ProductRules rules)
        : layer_(std::move(layer))
        , later_(later)
        , rules_(std::move(rules))
    {
    }
    Tensors forward(const Tensors& inputs, Tensors& kept) override
    {
        const Fp8Products& fp8 = *rules_.fp8;
        const at::Tensor &x = inputs[0], &weight = layer_.weight;
        const at::Tensor largest_x = rules_.largest_x.defined() ? rules_.largest_x : fp8.largest(x, Of::activation);
        const at::Tensor largest_weight = fp8.largest(weight, Of::weight);
        kept = {x, largest_x, largest_weight};
        const Sums sums = rules_.cut == CutOver::rows ? Sums::parts : Sums::whole;
        Fp8Products::Factor rounded_x = rules_.rounded_x != nullptr ? *rules_.rounded_x : Fp8Products::Factor();
        if (!rounded_x.exact.defined() && !rounded_x.quantized.values.defined())
            rounded_x = fp8.factor(as_rows(x), Of::activation, sums, largest_x);
        if (rules_.rounded_x != nullptr)
            *rules_.rounded_x = rounded_x;
        at::Tensor y = fp8.product(rounded_x, fp8.factor(weight, Of::weight, sums, largest_weight), x.scalar_type());
        if (layer_.bias.defined())
            y = y.add(layer_.bias);
        auto shape = x.sizes().vec();
        shape.back() = weight.size(0);
        return {y.view(shape)};
    }
    [[nodiscard]] Repeat repeat() const override { return rules_.summed ? Repeat::summed : Repeat::product; }
    Tensors backward(const Tensors& gradients, const Tensors& kept) override
    {
        const Fp8Products& fp8 = *rules_.fp8;
        const at::Tensor& slope = gradients[0];
        const at::Tensor largest_slope = fp8.largest(slope, Of::gradient);
        const Sums sums = rules_.cut == CutOver::columns ? Sums::parts : Sums::whole;
        Tensors slopes{fp8.product(fp8.factor(as_rows(slope), Of::gradient, sums, largest_slope),
                              fp8.factor(layer_.weight.t(), Of::weight, sums, kept[2]), slope.scalar_type())
                           .view(kept[0].sizes())};
        append_weight_gradients(slopes, layer_, {kept[0], kept[1]}, {slope, largest_slope}, later_, rules_.fp8,
            rules_.cut == CutOver::tokens ? Sums::rows_of_tp : Sums::tokens);
        return slopes;
    }

private:
    Affine layer_;
    WeightGradients& later_;
    ProductRules rules_;
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

void append_weight_gradients(std::vector<at::Tensor>& gradients, const Affine& layer, const Measured& x,
    const Measured& slope, WeightGradients& later, const Fp8Products* fp8, Sums sums, Due due)
{
    // Detached: what autograd saved still holds on to the graph before it, and that to the chunk's input.
    const WeightGradients::Work work
        = [x = Measured{x.tensor.detach(), x.largest}, slope, fp8, sums, bias = layer.bias.defined(),
              sum = fp8 != nullptr ? nullptr : later.sum_of(layer.weight)] {
              const at::Tensor rows = as_rows(slope.tensor);
              std::vector<at::Tensor> own(1);
              if (fp8 != nullptr)
                  own[0] = fp8->weight_gradient(slope.tensor, slope.largest, x.tensor, x.largest, sums);
              else if (sum == nullptr)
                  own[0] = rows.t().mm(as_rows(x.tensor));
              else
                  sum->total.addmm_(rows.t(), as_rows(x.tensor));
              if (sum != nullptr)
                  sum->added();
              if (bias)
                  own.push_back(rows.sum(0));
              return own;
          };
    const auto weights = leaves_of(layer);
    std::vector<at::Tensor> own(weights.size());
    const bool summed = fp8 == nullptr && !layer.bias.defined() && later.sum_of(layer.weight) != nullptr;
    if (due == Due::beside_messages && summed && !later.postpones())
        later.leave(work);
    else if (!later.postpone(weights, work))
        own = work();
    gradients.insert(gradients.end(), own.begin(), own.end());
}

const WeightGradients::Sum* sum_by_rows(const at::Tensor& weight, const WeightGradients& later, const Fp8Products* fp8)
{
    const WeightGradients::Sum* const sum = later.sum_of(weight);
    // Sums in 16 bits would be rounded once more.
    return sum != nullptr && fp8 == nullptr && !later.postpones() && sum->total.element_size() >= 4 ? sum : nullptr;
}

void add_rows(const WeightGradients::Sum& sum, const at::Tensor& x, const at::Tensor& slope)
{
    if (x.numel() > 0)
        sum.total.addmm_(as_rows(slope).t(), as_rows(x));
}

at::Tensor linear(const at::Tensor& x, const Affine& layer, WeightGradients& later, const ProductRules& rules)
{
    if (rules.fp8 == nullptr && !at::GradMode::is_enabled() && KeptResults::in_use() == nullptr)
        return product_with_transposed(x, layer.weight, layer.bias);
    std::vector<at::Tensor> inputs{x};
    for (const at::Tensor& leaf : leaves_of(layer))
        inputs.push_back(leaf);
    if (rules.fp8 != nullptr)
        return trainer::apply(std::make_shared<Fp8Linear>(layer, later, rules), inputs)[0];
    return trainer::apply(std::make_shared<Linear>(layer, later, rules.summed), inputs)[0];
}

} // namespace fourfold::trainer
