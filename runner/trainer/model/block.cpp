// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/block.h"

#include "runner/trainer/context_parallel/context_attention.h"
#include "runner/trainer/kernels/fused.h"
#include "runner/trainer/model/attention.h"
#include "runner/trainer/model/recompute.h"

#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>

namespace fourfold::trainer {

at::Tensor norm(const at::Tensor& x, const Affine& weights, const ModelShape& shape)
{
    return shape.norm == Norm::rms ? fused_rms_norm(x, weights.weight, shape.norm_eps)
                                   : at::layer_norm(x, {shape.hidden}, weights.weight, weights.bias, shape.norm_eps);
}

Block::Block(const BlockSettings& settings, const Weights& weights, int layer, bool recompute_attention)
    : settings_(settings)
    , recompute_attention_(recompute_attention)
    , attention_norm_(weights.find(layer, Role::attention_norm))
    , query_(weights.find(layer, Role::query))
    , key_(weights.find(layer, Role::key))
    , value_(weights.find(layer, Role::value))
    , fused_(weights.find(layer, Role::fused))
    , output_(weights.find(layer, Role::output))
    , mlp_norm_(weights.find(layer, Role::mlp_norm))
    , gate_(weights.find(layer, Role::gate))
    , up_(weights.find(layer, Role::up))
    , down_(weights.find(layer, Role::down))
{
}

at::Tensor Block::attention(const at::Tensor& x) const
{
    const RegionProducts& products = settings_.products;
    const int64_t b = x.size(1), head_dim = settings_.shape.head_dim;
    // Inside the region there are more rows than those of x.
    const auto heads = [&](const at::Tensor& rows) { return rows.view({rows.size(0), b, -1, head_dim}); };
    at::Tensor query, key, value;
    if (fused_.weight.defined()) {
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
    if (settings_.rotary.cosine.defined()) {
        query = rotate(query, settings_.rotary);
        key = rotate(key, settings_.rotary);
    }
    const auto mix = [&settings = settings_](at::TensorList in) {
        return settings.mesh[GroupKind::cp].size() > 1
            ? context_attention(in[0], in[1], in[2], settings.mesh[GroupKind::cp], settings.cp_method)
            : causal_attention(in[0], in[1], in[2], settings.attention_bias);
    };
    const at::Tensor mixed = recompute_attention_ ? recomputed(mix, {query, key, value}) : mix({query, key, value});
    return products.leave(mixed, output_.weight);
}

at::Tensor Block::mlp(const at::Tensor& x) const
{
    const RegionProducts& products = settings_.products;
    if (gate_.weight.defined()) {
        const auto inner = products.enter(x, {gate_, up_});
        return products.leave(fused_swiglu(inner[0], inner[1]), down_.weight);
    }
    const at::Tensor inner = products.enter(x, {up_})[0];
    return products.leave(at::gelu(inner, settings_.shape.exact_gelu ? "none" : "tanh"), down_.weight);
}

at::Tensor Block::forward(const at::Tensor& x) const
{
    // The bias of a row-parallel linear is added once, to the sum over the ranks.
    const auto residual = [&](const at::Tensor& in, const Affine& before, auto&& inside, const at::Tensor& bias) {
        const at::Tensor out = in.add(inside(norm(in, before, settings_.shape)));
        return bias.defined() ? out.add(bias) : out;
    };
    const at::Tensor after_attention = residual(
        x, attention_norm_, [&](const at::Tensor& in) { return attention(in); }, output_.bias);
    return residual(
        after_attention, mlp_norm_, [&](const at::Tensor& in) { return mlp(in); }, down_.bias);
}

} // namespace fourfold::trainer
