// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/tensor_parallel/overlapped_products.h"

#include "runner/trainer/autograd/gradient_function.h"
#include "runner/trainer/tensor_parallel/pieces.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>

#include <optional>
#include <utility>

namespace fourfold::trainer {

namespace {
at::Tensor of_width(const at::Tensor& x, int64_t rows, int64_t width)
{
    auto shape = x.sizes().vec();
    shape.front() = rows;
    shape.back() = width;
    return at::empty(shape, x.options());
}

using Of = Fp8Products::Of;
using Sums = Fp8Products::Sums;

RowsOfRanks all_of(const at::Tensor& whole)
{
    return {0, 1, whole.size(0), 0, whole.size(0)};
}

at::Tensor largest_of(const Fp8Products* fp8, const at::Tensor& part, Of of, bool gathered = false)
{
    return fp8 != nullptr ? fp8->largest(part, of, gathered) : at::Tensor();
}

// The side of a product that is the same for all pieces: rows b^T, rounded once.
class Side {
public:
    // b: [out, in], a weight.
    Side(const Fp8Products* fp8, at::Tensor b, Sums sums, const at::Tensor& largest_b)
        : fp8_(fp8)
        , b_(std::move(b))
    {
        if (fp8 != nullptr)
            factor_ = fp8->factor(b_, Of::weight, sums, largest_b);
    }
    // Rows as they enter a product: rounded, once for all sides.
    using Rows = std::pair<at::Tensor, std::optional<Fp8Products::Factor>>;
    static Rows rows_of(const Fp8Products* fp8, const Measured& rows, Of of, Sums sums)
    {
        const at::Tensor matrix = as_rows(rows.tensor);
        return {matrix, fp8 != nullptr ? std::optional(fp8->factor(matrix, of, sums, rows.largest)) : std::nullopt};
    }
    // out = rows b^T (+ bias, of the columns), or that added to it; [..., columns of it], perhaps with gaps between
    // rows.
    void product_into(const at::Tensor& out, const Rows& rows, const at::Tensor& bias = {}, bool added = false) const
    {
        const auto& [matrix, rounded] = rows;
        const bool whole = out.is_contiguous();
        at::Tensor target = whole ? as_rows(out) : at::Tensor();
        if (whole && rounded && !bias.defined() && !added)
            fp8_->product_into(target, *rounded, factor_);
        else if (whole && !rounded && added)
            target.addmm_(matrix, b_.t());
        else if (whole && !rounded && bias.defined())
            at::addmm_out(target, bias, matrix, b_.t());
        else if (whole && !rounded)
            at::mm_out(target, matrix, b_.t());
        else {
            at::Tensor y = rounded ? fp8_->product(*rounded, factor_, out.scalar_type()) : at::mm(matrix, b_.t());
            if (bias.defined())
                y = y.add(bias);
            y = y.view(out.sizes());
            added ? out.add_(y) : out.copy_(y);
        }
    }

private:
    const Fp8Products* fp8_;
    at::Tensor b_;
    Fp8Products::Factor factor_;
};

at::Tensor gathered_whole(const at::Tensor& own, const Communicator& tp, const GatheredRows& rows)
{
    const at::Tensor whole = of_width(own, own.size(0) * tp.size(), own.size(-1));
    Handle gather = tp.start_all_gather(whole, own);
    rows.give_turn();
    gather.wait();
    return whole;
}

class Gathered final : public GradientFunction {
public:
    Gathered(std::vector<Affine> layers, const Communicator& tp, WeightGradients& later, const Fp8Products* fp8,
        GatheredRows rows)
        : layers_(std::move(layers))
        , tp_(tp)
        , later_(later)
        , fp8_(fp8)
        , rows_(rows)
    {
    }
    Tensors forward(const Tensors& inputs, Tensors& kept) override
    {
        const at::Tensor x = inputs[0].contiguous();
        const bool cut = rows_.are_cut();
        at::Tensor whole = cut ? at::Tensor() : gathered_whole(x, tp_, rows_);
        const at::Tensor largest_x
            = cut ? largest_of(fp8_, x, Of::activation, true) : largest_of(fp8_, whole, Of::activation);
        kept = {x, largest_x};
        Tensors outputs;
        std::vector<Side> sides;
        for (const Affine& layer : layers_) {
            outputs.push_back(of_width(x, x.size(0) * tp_.size(), layer.weight.size(0)));
            kept.push_back(largest_of(fp8_, layer.weight, Of::weight));
            sides.emplace_back(fp8_, layer.weight, Sums::whole, kept.back());
        }
        const auto products_of = [&](const RowsOfRanks& which, const at::Tensor& rows) {
            const Side::Rows entering = Side::rows_of(fp8_, {rows, largest_x}, Of::activation, Sums::whole);
            for (std::size_t i = 0; i < layers_.size(); ++i)
                sides[i].product_into(which.of(outputs[i]), entering, layers_[i].bias);
        };
        if (cut)
            whole = gather_in_pieces(x, tp_, products_of);
        else
            products_of(all_of(whole), whole);
        if (rows_.kept)
            kept[0] = whole;
        return outputs;
    }
    Tensors backward(const Tensors& gradients, const Tensors& kept) override
    {
        // Under way while the input's gradient is computed.
        auto shape = kept[0].sizes().vec();
        at::Tensor whole = kept[0];
        Handle gather;
        if (!rows_.kept) {
            shape.front() *= tp_.size();
            whole = at::empty(shape, kept[0].options());
            gather = tp_.start_all_gather(whole, kept[0]);
        }
        std::vector<Measured> slopes;
        std::vector<Side> sides;
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            slopes.push_back({gradients[i].contiguous(), largest_of(fp8_, gradients[i], Of::gradient)});
            sides.emplace_back(fp8_, layers_[i].weight.t(), Sums::parts, kept[2 + i]);
        }
        const auto slope_of_rows = [&](const RowsOfRanks& which, const at::Tensor& out) {
            for (std::size_t i = 0; i < layers_.size(); ++i) {
                const Measured rows{which.of(slopes[i].tensor), slopes[i].largest};
                sides[i].product_into(out, Side::rows_of(fp8_, rows, Of::gradient, Sums::parts), {}, i > 0);
            }
        };
        std::optional<ScatterInPieces> pieces;
        at::Tensor summand, sum;
        Handle scatter;
        // Weight gradients that are due here hide the whole sum behind them; where they wait, its pieces hide behind
        // each other's products.
        const bool cut = rows_.are_cut();
        if (cut && later_.postpones()) {
            pieces.emplace(shape, whole.options(), tp_, slope_of_rows);
        } else {
            summand = at::empty(shape, whole.options());
            slope_of_rows(all_of(summand), summand);
            sum = of_width(summand, shape.front() / tp_.size(), shape.back());
            scatter = tp_.start_reduce_scatter(sum, summand);
        }
        rows_.give_turn();
        gather.wait();
        Tensors own; // while what is left of the sum is under way; the last, of several, beside the next message
        for (std::size_t i = 0; i < layers_.size(); ++i)
            append_weight_gradients(own, layers_[i], {whole, kept[1]}, slopes[i], later_, fp8_, Sums::tokens,
                cut && i > 0 && i + 1 == layers_.size() ? Due::beside_messages : Due::now);
        scatter.wait();
        own.insert(own.begin(), pieces ? pieces->finish() : sum);
        return own;
    }

private:
    std::vector<Affine> layers_;
    const Communicator& tp_;
    WeightGradients& later_;
    const Fp8Products* fp8_;
    GatheredRows rows_;
};

class Scattered final : public GradientFunction {
public:
    Scattered(
        at::Tensor weight, const Communicator& tp, WeightGradients& later, const Fp8Products* fp8, GatheredRows rows)
        : layer_{std::move(weight), {}}
        , tp_(tp)
        , later_(later)
        , fp8_(fp8)
        , rows_(rows)
    {
    }
    Tensors forward(const Tensors& inputs, Tensors& kept) override
    {
        const at::Tensor x = inputs[0].contiguous();
        const Measured measured{x, largest_of(fp8_, x, Of::activation)};
        kept = {x, measured.largest, largest_of(fp8_, layer_.weight, Of::weight)};
        const Side side(fp8_, layer_.weight, Sums::parts, kept[2]);
        auto whole = x.sizes().vec();
        whole.back() = layer_.weight.size(0);
        ScatterInPieces pieces(
            whole, x.options(), tp_,
            [&](const RowsOfRanks& which, const at::Tensor& out) {
                side.product_into(
                    out, Side::rows_of(fp8_, {which.of(x), measured.largest}, Of::activation, Sums::parts));
            },
            rows_.are_cut());
        rows_.give_turn();
        return {pieces.finish()};
    }
    [[nodiscard]] Repeat repeat() const override { return Repeat::costly; }
    Tensors backward(const Tensors& gradients, const Tensors& kept) override
    {
        const at::Tensor& x = kept[0];
        const at::Tensor x_slope = of_width(x, x.size(0), x.size(-1));
        const at::Tensor largest_slope = largest_of(fp8_, gradients[0], Of::gradient, true);
        const Side side(fp8_, layer_.weight.t(), Sums::whole, kept[2]);
        const auto slope_of_rows = [&](const RowsOfRanks& which, const at::Tensor& rows) {
            side.product_into(which.of(x_slope), Side::rows_of(fp8_, {rows, largest_slope}, Of::gradient, Sums::whole));
        };
        const bool cut = rows_.are_cut();
        const WeightGradients::Sum* const sum = cut ? sum_by_rows(layer_.weight, later_, fp8_) : nullptr;
        const int64_t n = gradients[0].size(0), first = n * tp_.rank(), last = first + n;
        at::Tensor slope;
        if (cut) {
            slope = gather_in_pieces(gradients[0], tp_, slope_of_rows, [&] {
                if (sum != nullptr)
                    add_rows(*sum, x.narrow(0, first, n), gradients[0]);
                later_.catch_up();
            });
        } else {
            slope = gathered_whole(gradients[0].contiguous(), tp_, rows_);
            slope_of_rows(all_of(slope), slope);
        }
        Tensors slopes{x_slope};
        if (sum == nullptr) {
            append_weight_gradients(slopes, layer_, {x, kept[1]}, {slope, largest_slope}, later_, fp8_);
        } else {
            for (const auto& [begin, end] : {std::pair<int64_t, int64_t>(0, first), {last, x.size(0)}})
                add_rows(*sum, x.narrow(0, begin, end - begin), slope.narrow(0, begin, end - begin));
            sum->added();
            slopes.emplace_back();
        }
        return slopes;
    }

private:
    Affine layer_;
    const Communicator& tp_;
    WeightGradients& later_;
    const Fp8Products* fp8_;
    GatheredRows rows_;
};
} // namespace

std::vector<at::Tensor> gathered_products(const at::Tensor& x, const std::vector<Affine>& layers,
    const Communicator& tp, WeightGradients& later, const Fp8Products* fp8, GatheredRows rows)
{
    std::vector<at::Tensor> inputs{x};
    for (const Affine& layer : layers)
        for (const at::Tensor& leaf : leaves_of(layer))
            inputs.push_back(leaf);
    return trainer::apply(std::make_shared<Gathered>(layers, tp, later, fp8, rows), inputs);
}

at::Tensor scattered_product(const at::Tensor& x, const at::Tensor& weight, const Communicator& tp,
    WeightGradients& later, const Fp8Products* fp8, GatheredRows rows)
{
    return trainer::apply(std::make_shared<Scattered>(weight, tp, later, fp8, rows), {x, weight})[0];
}

} // namespace fourfold::trainer
