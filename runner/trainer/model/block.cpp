// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/block.h"

#include "runner/trainer/context_parallel/context_attention.h"
#include "runner/trainer/model/fused_products.h"
#include "runner/trainer/model/recompute.h"
#include "runner/trainer/tensor_parallel/regions.h"

#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>

#include <utility>

namespace fourfold::trainer {

namespace {
at::Tensor scales_of(const Affine& weights, const ModelShape& shape)
{
    return shape.offset_norms ? weights.weight.add(1) : weights.weight;
}
} // namespace

at::Tensor norm(const at::Tensor& x, const Affine& weights, const BlockSettings& settings)
{
    const ModelShape& shape = settings.shape;
    if (shape.norm == Norm::layer)
        return at::layer_norm(x, {shape.hidden}, weights.weight, weights.bias, shape.norm_eps);
    return rms_norm(settings.kernels, x, scales_of(weights, shape), shape.norm_eps);
}

Block::Block(const BlockSettings& settings, const Weights& weights, int layer, WordSet<RecomputePart> repeated)
    : settings_(settings)
    , layer_(layer)
    , kind_(settings.shape.windowed(layer) ? &LayerAttentions::windowed : &LayerAttentions::full)
    , repeated_(repeated)
    , attention_norm_(weights.find(layer, Role::attention_norm))
    , query_(weights.find(layer, Role::query))
    , key_(weights.find(layer, Role::key))
    , value_(weights.find(layer, Role::value))
    , query_norm_(weights.find(layer, Role::query_norm))
    , key_norm_(weights.find(layer, Role::key_norm))
    , sinks_(weights.find(layer, Role::sinks))
    , fused_(weights.find(layer, Role::fused))
    , output_(weights.find(layer, Role::output))
    , attention_post_norm_(weights.find(layer, Role::attention_post_norm))
    , mlp_norm_(weights.find(layer, Role::mlp_norm))
    , gate_(weights.find(layer, Role::gate))
    , up_(weights.find(layer, Role::up))
    , down_(weights.find(layer, Role::down))
    , mlp_post_norm_(weights.find(layer, Role::mlp_post_norm))
{
    if (settings.shape.latent)
        latent_.emplace(settings.shape, weights, layer);
    if (settings.shape.is_moe_layer(layer))
        experts_.emplace(*settings.experts, settings.mesh, weights, layer);
}

at::Tensor Block::normed(const at::Tensor& x, const Affine& weights) const
{
    return norm(x, weights, settings_);
}

bool Block::keeps_no_inputs(const at::Tensor& x, const Affine& layer) const
{
    return settings_.kernels == Kernels::fused && settings_.products.alone() && makes_inputs_again(x, layer.weight);
}

std::vector<at::Tensor> Block::entered(
    const at::Tensor& x, const Affine& before, const std::vector<Affine>& layers) const
{
    if (settings_.shape.norm == Norm::rms && !repeated_.contains(RecomputePart::layer_norm)
        && keeps_no_inputs(x, layers[0]))
        return normed_products(
            x, scales_of(before, settings_.shape), settings_.shape.norm_eps, layers, settings_.products.later());
    const auto block
        = [this, before, layers](at::TensorList in) { return settings_.products.enter(normed(in[0], before), layers); };
    return repeated_.contains(RecomputePart::layer_norm) ? recomputed(block, {x}, KeptResults::Choice::products)
                                                         : block({x});
}

at::Tensor Block::attention(const at::Tensor& x, const Attentions& attentions) const
{
    const LayerAttentions::One& own = (*attentions).*kind_;
    const int64_t b = x.size(1), head_dim = settings_.shape.head_dim;
    // Inside the region there are more rows than those of x.
    const auto heads = [&](const at::Tensor& rows) { return rows.view({rows.size(0), b, -1, head_dim}); };
    at::Tensor query, key, value;
    if (latent_) {
        auto made = latent_->forward(normed(x, attention_norm_), own.rotary, settings_.products, settings_.kernels);
        query = std::move(made.query);
        key = std::move(made.key);
        value = std::move(made.value);
    } else if (fused_.weight.defined()) {
        const at::Tensor rows = entered(x, attention_norm_, {fused_})[0];
        const auto parts = rows.view({rows.size(0), b, -1, 3, head_dim}).unbind(3);
        query = parts[0];
        key = parts[1];
        value = parts[2];
    } else {
        const auto projected = entered(x, attention_norm_, {query_, key_, value_});
        query = heads(projected[0]);
        key = heads(projected[1]);
        value = heads(projected[2]);
    }
    if (query_norm_.weight.defined()) {
        query = normed(query, query_norm_);
        key = normed(key, key_norm_);
    }
    if (own.rotary.cosine.defined() && !latent_) {
        query = rotate(settings_.kernels, query, own.rotary);
        key = rotate(settings_.kernels, key, own.rotary);
    }
    if (attentions->seen != nullptr) {
        KeyValueCache::Seen all = attentions->seen->extended(layer_, key, value);
        key = std::move(all.key);
        value = std::move(all.value);
    }
    const auto mix = [this, attentions](at::TensorList in) {
        return std::vector{context_attention(in[0], in[1], in[2], sinks_.weight, ((*attentions).*kind_).rule,
            settings_.mesh[GroupKind::cp], settings_.cp_method)};
    };
    const at::Tensor mixed = (repeated_.contains(RecomputePart::core_attention) ? recomputed(mix, {query, key, value})
                                                                                : mix({query, key, value}))[0];
    return settings_.products.leave(latent_ ? latent_->without_filling(mixed) : mixed, output_.weight);
}

std::vector<Affine> Block::into_mlp() const
{
    return gate_.weight.defined() ? std::vector{gate_, up_} : std::vector{up_};
}

at::Tensor Block::out_of_mlp(const std::vector<at::Tensor>& inner) const
{
    const std::string_view form = settings_.shape.exact_gelu ? "none" : "tanh";
    const bool gated = gate_.weight.defined(), gelu = !gated || settings_.shape.activation == Activation::geglu;
    if (!gelu && keeps_no_inputs(inner[0], down_))
        return gated_product(inner[0], inner[1], {down_.weight, {}}, settings_.products.later());
    const at::Tensor active = !gelu ? swiglu(settings_.kernels, inner[0], inner[1])
        : gated                     ? at::gelu(inner[0], form).mul(inner[1])
                                    : at::gelu(inner[0], form);
    return settings_.products.leave(active, down_.weight);
}

at::Tensor Block::mlp(const at::Tensor& x) const
{
    if (!experts_)
        return out_of_mlp(settings_.products.enter(x, into_mlp()));
    const at::Tensor routed = experts_->forward(x);
    return down_.weight.defined() ? routed.add(out_of_mlp(settings_.products.enter(x, into_mlp()))) : routed;
}

at::Tensor Block::feed_forward(const at::Tensor& x, at::Tensor known) const
{
    const auto own_norm = [&] { return known.defined() ? known : normed(x, mlp_norm_); };
    if (repeated_.contains(experts_ ? RecomputePart::moe : RecomputePart::mlp)) {
        if (!repeated_.contains(RecomputePart::layer_norm))
            return recomputed([this](at::TensorList in) { return std::vector{mlp(in[0])}; }, {own_norm()})[0];
        return recomputed([this](at::TensorList in) { return std::vector{mlp(normed(in[0], mlp_norm_))}; }, {x})[0];
    }
    if (experts_)
        return mlp(own_norm());
    if (!known.defined())
        return out_of_mlp(entered(x, mlp_norm_, into_mlp()));
    const std::vector<at::Tensor> inner = settings_.products.enter(known, into_mlp());
    known.reset(); // its memory is the activation's
    return out_of_mlp(inner);
}

at::Tensor Block::forward(const at::Tensor& x, const Attentions& attentions) const
{
    // What a region adds to the stream. The bias of a row-parallel linear is added once, to the sum over the ranks.
    const auto added = [&](at::Tensor out, const at::Tensor& bias, const Affine& behind) {
        if (bias.defined())
            out = out.add(bias);
        return behind.weight.defined() ? normed(out, behind) : out;
    };
    const ModelShape& shape = settings_.shape;
    at::Tensor after_attention, normed_stream;
    {
        at::Tensor attended = added(attention(x, attentions), output_.bias, attention_post_norm_);
        if (shape.norm == Norm::rms && !shape.parallel_residual && !experts_
            && !repeated_.contains(RecomputePart::layer_norm) && !repeated_.contains(RecomputePart::mlp)
            && keeps_no_inputs(x, down_)) {
            std::vector<at::Tensor> inner = normed_sum_products(x, std::exchange(attended, {}),
                scales_of(mlp_norm_, shape), shape.norm_eps, into_mlp(), settings_.products.later());
            const at::Tensor sum = inner[0];
            inner.erase(inner.begin());
            return sum.add(added(out_of_mlp(inner), down_.bias, mlp_post_norm_));
        }
        // A norm that is repeated in the backward pass is repeated with the products behind it.
        if (shape.norm == Norm::rms && !shape.parallel_residual && !repeated_.contains(RecomputePart::layer_norm)) {
            NormedSum both = normed_sum(settings_.kernels, x, attended, scales_of(mlp_norm_, shape), shape.norm_eps);
            after_attention = std::move(both.sum);
            normed_stream = std::move(both.normed);
        } else {
            after_attention = x.add(attended);
        }
    }
    const at::Tensor& stream = shape.parallel_residual ? x : after_attention;
    return after_attention.add(added(feed_forward(stream, std::move(normed_stream)), down_.bias, mlp_post_norm_));
}

} // namespace fourfold::trainer
