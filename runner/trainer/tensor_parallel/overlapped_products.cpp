// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/tensor_parallel/overlapped_products.h"

#include "runner/trainer/autograd/gradient_function.h"
#include "runner/trainer/tensor_parallel/pieces.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>

namespace fourfold::trainer {

namespace {
at::Tensor of_width(const at::Tensor& x, int64_t rows, int64_t width)
{
    auto shape = x.sizes().vec();
    shape.front() = rows;
    shape.back() = width;
    return at::empty(shape, x.options());
}

// out = a b (+ bias, of the columns): rows of contiguous tensors.
void product_into(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b, const at::Tensor& bias = {})
{
    at::Tensor target = as_rows(out);
    if (bias.defined())
        at::addmm_out(target, bias, as_rows(a), b);
    else
        at::mm_out(target, as_rows(a), b);
}

class Gathered final : public GradientFunction {
public:
    Gathered(std::vector<Affine> layers, const Communicator& tp, WeightGradients& later)
        : layers_(std::move(layers))
        , tp_(tp)
        , later_(later)
    {
    }
    Tensors forward(const Tensors& inputs, Tensors& kept) override
    {
        const at::Tensor& x = inputs[0];
        Tensors outputs;
        for (const Affine& layer : layers_)
            outputs.push_back(of_width(x, x.size(0) * tp_.size(), layer.weight.size(0)));
        kept = {gather_in_pieces(x, tp_, [&](int64_t first, const at::Tensor& rows) {
            for (std::size_t i = 0; i < layers_.size(); ++i)
                product_into(outputs[i].narrow(0, first, rows.size(0)), rows, layers_[i].weight.t(), layers_[i].bias);
        })};
        return outputs;
    }
    Tensors backward(const Tensors& gradients, const Tensors& kept) override
    {
        Tensors slopes;
        for (const at::Tensor& gradient : gradients)
            slopes.push_back(gradient.contiguous());
        ScatterInPieces scattered(
            kept[0].sizes().vec(), kept[0].options(), tp_, [&](int64_t first, const at::Tensor& out) {
                for (std::size_t i = 0; i < layers_.size(); ++i) {
                    const at::Tensor rows = slopes[i].narrow(0, first, out.size(0));
                    if (i == 0)
                        product_into(out, rows, layers_[0].weight);
                    else
                        as_rows(out).addmm_(as_rows(rows), layers_[i].weight);
                }
            });
        Tensors own; // while the last pieces are under way
        for (std::size_t i = 0; i < layers_.size(); ++i)
            append_weight_gradients(own, layers_[i], as_rows(kept[0]), as_rows(slopes[i]), later_);
        own.insert(own.begin(), scattered.finish());
        return own;
    }

private:
    std::vector<Affine> layers_;
    const Communicator& tp_;
    WeightGradients& later_;
};

class Scattered final : public GradientFunction {
public:
    Scattered(at::Tensor weight, const Communicator& tp, WeightGradients& later)
        : layer_{std::move(weight), {}}
        , tp_(tp)
        , later_(later)
    {
    }
    Tensors forward(const Tensors& inputs, Tensors& kept) override
    {
        const at::Tensor x = inputs[0].contiguous();
        kept = {x};
        auto whole = x.sizes().vec();
        whole.back() = layer_.weight.size(0);
        return {ScatterInPieces(whole, x.options(), tp_, [&](int64_t first, const at::Tensor& out) {
            product_into(out, x.narrow(0, first, out.size(0)), layer_.weight.t());
        }).finish()};
    }
    Tensors backward(const Tensors& gradients, const Tensors& kept) override
    {
        const at::Tensor& x = kept[0];
        const at::Tensor x_slope = of_width(x, x.size(0), x.size(-1));
        const at::Tensor slope = gather_in_pieces(gradients[0], tp_, [&](int64_t first, const at::Tensor& rows) {
            product_into(x_slope.narrow(0, first, rows.size(0)), rows, layer_.weight);
        });
        Tensors slopes{x_slope};
        append_weight_gradients(slopes, layer_, as_rows(x), as_rows(slope), later_);
        return slopes;
    }

private:
    Affine layer_;
    const Communicator& tp_;
    WeightGradients& later_;
};
} // namespace

std::vector<at::Tensor> gathered_products(
    const at::Tensor& x, const std::vector<Affine>& layers, const Communicator& tp, WeightGradients& later)
{
    std::vector<at::Tensor> inputs{x};
    for (const Affine& layer : layers)
        for (const at::Tensor& leaf : leaves_of(layer))
            inputs.push_back(leaf);
    return trainer::apply(std::make_shared<Gathered>(layers, tp, later), inputs);
}

at::Tensor scattered_product(
    const at::Tensor& x, const at::Tensor& weight, const Communicator& tp, WeightGradients& later)
{
    return trainer::apply(std::make_shared<Scattered>(weight, tp, later), {x, weight})[0];
}

} // namespace fourfold::trainer
