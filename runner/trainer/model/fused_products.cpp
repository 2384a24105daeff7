// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/fused_products.h"

#include "runner/trainer/autograd/kept_results.h"
#include "runner/trainer/kernels/products.h"
#include "runner/trainer/kernels/tensor_loops.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>

#include <memory>

namespace fourfold::trainer {

namespace {
void append_leaves(std::vector<at::Tensor>& inputs, const std::vector<Affine>& layers)
{
    for (const Affine& layer : layers)
        for (const at::Tensor& leaf : leaves_of(layer))
            inputs.push_back(leaf);
}

// Inputs: x, more where it is a sum, scales, the layers' leaves.
class NormedProducts final : public GradientFunction {
public:
    NormedProducts(bool of_sum, double eps, std::vector<Affine> layers, WeightGradients& later)
        : of_sum_(of_sum)
        , eps_(eps)
        , layers_(std::move(layers))
        , later_(later)
    {
    }
    Tensors forward(const Tensors& inputs, Tensors& kept) override
    {
        const at::Tensor x = inputs[0].contiguous(), scales = inputs[of_sum_ ? 2 : 1];
        const int64_t width = x.size(-1), rows = x.numel() / width;
        const at::Tensor y = at::empty_like(x), scale = at::empty({rows}, x.options());
        Tensors outputs;
        if (of_sum_) {
            const at::Tensor more = inputs[1].contiguous(), sum = at::empty_like(x);
            by_type(x, 4, [&](auto* t) {
                normed_sum_rows(data(x, t), data(more, t), data(scales, t), rows, width, eps_, data(sum, t), data(y, t),
                    data(scale, t));
            });
            outputs.push_back(sum);
        } else {
            by_type(x, 2, [&](auto* t) {
                rms_norm_rows(data(x, t), data(scales, t), rows, width, eps_, data(y, t), data(scale, t));
            });
        }
        kept = {of_sum_ ? outputs[0] : x, scales, scale};
        for (const Affine& layer : layers_)
            outputs.push_back(product_with_transposed(y, layer.weight, layer.bias));
        return outputs;
    }
    Tensors backward(const Tensors& gradients, const Tensors& kept) override
    {
        const at::Tensor &x = kept[0], &scales = kept[1], &scale = kept[2];
        const int64_t width = x.size(-1), rows = x.numel() / width;
        const at::Tensor* const slopes = gradients.data() + (of_sum_ ? 1 : 0);
        Tensors of_leaves;
        {
            const at::Tensor y = at::empty_like(x);
            by_type(x, 2, [&](auto* t) {
                rms_norm_rows(data(x, t), data(scales, t), rows, width, eps_, data(y, t), data(scale, t));
            });
            for (std::size_t i = 0; i < layers_.size(); ++i)
                append_weight_gradients(of_leaves, layers_[i], {y}, {slopes[i]}, later_);
        }
        at::Tensor slope; // of y, summed up as autograd does it: repeating the norm changes no bit
        for (std::size_t i = layers_.size(); i-- > 0;) {
            const at::Tensor part = product_with(as_rows(slopes[i]), layers_[i].weight);
            slope = slope.defined() ? slope.add_(part) : part;
        }
        const at::Tensor x_slope = at::empty_like(x), scales_slope = at::empty({width}, x.options());
        Tensors result{x_slope};
        if (of_sum_) {
            const at::Tensor sum_slope = gradients[0].contiguous();
            by_type(x, 4, [&](auto* t) {
                normed_sum_slopes(data(sum_slope, t), data(slope, t), data(x, t), data(scales, t), data(scale, t), rows,
                    width, data(x_slope, t), data(scales_slope, t));
            });
            result.push_back(x_slope); // of both summands
        } else {
            by_type(x, 3, [&](auto* t) {
                rms_norm_slopes(data(slope, t), data(x, t), data(scales, t), data(scale, t), rows, width,
                    data(x_slope, t), data(scales_slope, t));
            });
        }
        result.push_back(scales_slope);
        result.insert(result.end(), of_leaves.begin(), of_leaves.end());
        return result;
    }

private:
    bool of_sum_;
    double eps_;
    std::vector<Affine> layers_;
    WeightGradients& later_;
};

// Inputs: gate, up, the layer's leaves.
class GatedProduct final : public GradientFunction {
public:
    GatedProduct(Affine layer, WeightGradients& later)
        : layer_(std::move(layer))
        , later_(later)
    {
    }
    Tensors forward(const Tensors& inputs, Tensors& kept) override
    {
        const at::Tensor gate = inputs[0].contiguous(), up = inputs[1].contiguous(), active = at::empty_like(gate);
        write_gated(form_, gate, up, active);
        kept = {gate, up};
        return {product_with_transposed(active, layer_.weight, layer_.bias)};
    }
    Tensors backward(const Tensors& gradients, const Tensors& kept) override
    {
        const at::Tensor gate = kept[0].detach(), up = kept[1].detach();
        // The gradient of the activation, and then, as each element is read once, the activation itself.
        const at::Tensor active = product_with(as_rows(gradients[0]), layer_.weight).view(gate.sizes());
        const at::Tensor room = room_of_pieces(gate, 4);
        by_type(gate, 6, [&](auto* t) {
            each_piece(form_, gate, room, [&](int64_t first, int64_t count, const at::Tensor& sigmoid) {
                auto *const of_gate = data(gate, t) + first, *const of_up = data(up, t) + first,
                            *const of_active = data(active, t) + first;
                auto *const sigmoids = data(sigmoid, t), *const made = sigmoids + room.size(1),
                            *const gate_slopes = made + room.size(1), *const up_slopes = gate_slopes + room.size(1);
                gated(gate_form(form_, t), of_gate, sigmoids, of_up, count, made);
                gated_slopes(gate_form(form_, t), of_active, of_gate, sigmoids, of_up, count, gate_slopes, up_slopes);
                std::copy_n(made, count, of_active);
                std::copy_n(gate_slopes, count, of_gate);
                std::copy_n(up_slopes, count, of_up);
            });
        });
        Tensors result{gate, up};
        append_weight_gradients(result, layer_, {active}, {gradients[0]}, later_);
        return result;
    }

private:
    GateForm<double> form_;
    Affine layer_;
    WeightGradients& later_;
};
} // namespace

bool makes_inputs_again(const at::Tensor& x, const at::Tensor& weight)
{
    return has_loops(x) && weight.scalar_type() == x.scalar_type() && x.numel() > 0 && x.requires_grad()
        && at::GradMode::is_enabled() && KeptResults::in_use() == nullptr;
}

std::vector<at::Tensor> normed_products(const at::Tensor& x, const at::Tensor& scales, double eps,
    const std::vector<Affine>& layers, WeightGradients& later)
{
    std::vector<at::Tensor> inputs{x, scales};
    append_leaves(inputs, layers);
    return trainer::apply(std::make_shared<NormedProducts>(false, eps, layers, later), inputs);
}

std::vector<at::Tensor> normed_sum_products(const at::Tensor& x, const at::Tensor& more, const at::Tensor& scales,
    double eps, const std::vector<Affine>& layers, WeightGradients& later)
{
    std::vector<at::Tensor> inputs{x, more, scales};
    append_leaves(inputs, layers);
    return trainer::apply(std::make_shared<NormedProducts>(true, eps, layers, later), inputs);
}

at::Tensor gated_product(const at::Tensor& gate, const at::Tensor& up, const Affine& layer, WeightGradients& later)
{
    std::vector<at::Tensor> inputs{gate, up};
    append_leaves(inputs, {layer});
    return trainer::apply(std::make_shared<GatedProduct>(layer, later), inputs)[0];
}

} // namespace fourfold::trainer
