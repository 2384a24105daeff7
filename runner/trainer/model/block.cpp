// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/block.h"

#include "runner/trainer/context_parallel/context_attention.h"
#include "runner/trainer/kernels/fused.h"
#include "runner/trainer/model/recompute.h"
#include "runner/trainer/tensor_parallel/regions.h"

#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>

namespace fourfold::trainer {

at::Tensor norm(const at::Tensor& x, const Affine& weights, const ModelShape& shape)
{
    if (shape.norm == Norm::layer)
        return at::layer_norm(x, {shape.hidden}, weights.weight, weights.bias, shape.norm_eps);
    return fused_rms_norm(x, shape.offset_norms ? weights.weight.add(1) : weights.weight, shape.norm_eps);
}

Block::Block(const BlockSettings& settings, const Weights& weights, int layer, bool recompute_attention)
    : settings_(settings)
    , kind_(settings.shape.windowed(layer) ? settings.windowed : settings.full)
    , recompute_attention_(recompute_attention)
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

at::Tensor Block::attention(const at::Tensor& x) const
{
    const RegionProducts& products = settings_.products;
    const int64_t b = x.size(1), head_dim = settings_.shape.head_dim;
    // Inside the region there are more rows than those of x.
    const auto heads = [&](const at::Tensor& rows) { return rows.view({rows.size(0), b, -1, head_dim}); };
    at::Tensor query, key, value;
    if (latent_) {
        const at::Tensor entered = enter_region(x, settings_.mesh[GroupKind::tp], settings_.sequence_parallel);
        auto made = latent_->forward(entered, kind_.rotary);
        query = std::move(made.query);
        key = std::move(made.key);
        value = std::move(made.value);
    } else if (fused_.weight.defined()) {
        const at::Tensor rows = products.enter(x, {fused_})[0];
        const auto parts = rows.view({rows.size(0), b, -1, 3, head_dim}).unbind(3);
        query = parts[0];
        key = parts[1];
        value = parts[2];
    } else {
        const auto projected = products.enter(x, {query_, key_, value_});
        query = heads(projected[0]);
        key = heads(projected[1]);
        value = heads(projected[2]);
    }
    if (query_norm_.weight.defined()) {
        query = norm(query, query_norm_, settings_.shape);
        key = norm(key, key_norm_, settings_.shape);
    }
    if (kind_.rotary.cosine.defined() && !latent_) {
        query = rotate(query, kind_.rotary);
        key = rotate(key, kind_.rotary);
    }
    const auto mix = [&settings = settings_, &rule = kind_.rule, sinks = sinks_.weight](at::TensorList in) {
        return context_attention(in[0], in[1], in[2], sinks, rule, settings.mesh[GroupKind::cp], settings.cp_method);
    };
    const at::Tensor mixed = recompute_attention_ ? recomputed(mix, {query, key, value}) : mix({query, key, value});
    return products.leave(latent_ ? latent_->without_filling(mixed) : mixed, output_.weight);
}

at::Tensor Block::mlp(const at::Tensor& x) const
{
    const RegionProducts& products = settings_.products;
    const std::string_view form = settings_.shape.exact_gelu ? "none" : "tanh";
    if (!gate_.weight.defined())
        return products.leave(at::gelu(products.enter(x, {up_})[0], form), down_.weight);
    const auto inner = products.enter(x, {gate_, up_});
    const bool gelu = settings_.shape.activation == Activation::geglu;
    return products.leave(
        gelu ? at::gelu(inner[0], form).mul(inner[1]) : fused_swiglu(inner[0], inner[1]), down_.weight);
}

at::Tensor Block::forward(const at::Tensor& x) const
{
    // What a region adds to the stream. The bias of a row-parallel linear is added once, to the sum over the ranks.
    const auto added
        = [&](const at::Tensor& in, const Affine& before, auto&& inside, const at::Tensor& bias, const Affine& behind) {
              at::Tensor out = inside(norm(in, before, settings_.shape));
              if (bias.defined())
                  out = out.add(bias);
              return behind.weight.defined() ? norm(out, behind, settings_.shape) : out;
          };
    const auto feed_forward = [&](const at::Tensor& in) {
        if (!experts_)
            return mlp(in);
        const at::Tensor routed = experts_->forward(in);
        return down_.weight.defined() ? routed.add(mlp(in)) : routed;
    };
    const at::Tensor after_attention = x.add(added(
        x, attention_norm_, [&](const at::Tensor& in) { return attention(in); }, output_.bias, attention_post_norm_));
    return after_attention.add(added(
        settings_.shape.parallel_residual ? x : after_attention, mlp_norm_, feed_forward, down_.bias, mlp_post_norm_));
}

} // namespace fourfold::trainer
