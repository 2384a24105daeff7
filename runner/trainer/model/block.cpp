// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/block.h"

#include "runner/trainer/context_parallel/context_attention.h"
#include "runner/trainer/kernels/fused.h"
#include "runner/trainer/model/attention.h"
#include "runner/trainer/model/recompute.h"
#include "runner/trainer/tensor_parallel/regions.h"

#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>

namespace fourfold::trainer {

namespace {
at::Tensor linear(const at::Tensor& x, const Affine& layer)
{
    return at::linear(x, layer.weight, layer.bias);
}
} // namespace

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
    const int64_t s = x.size(0), b = x.size(1), head_dim = settings_.shape.head_dim;
    const auto heads = [&](const at::Tensor& projected) { return projected.view({s, b, -1, head_dim}); };
    at::Tensor query, key, value;
    if (fused_.weight.defined()) {
        const auto parts = linear(x, fused_).view({s, b, -1, 3, head_dim}).unbind(3);
        query = parts[0];
        key = parts[1];
        value = parts[2];
    } else {
        query = heads(linear(x, query_));
        key = heads(linear(x, key_));
        value = heads(linear(x, value_));
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
    return at::linear(mixed, output_.weight);
}

at::Tensor Block::mlp(const at::Tensor& x) const
{
    if (gate_.weight.defined())
        return at::linear(fused_swiglu(linear(x, gate_), linear(x, up_)), down_.weight);
    return at::linear(at::gelu(linear(x, up_), settings_.shape.exact_gelu ? "none" : "tanh"), down_.weight);
}

at::Tensor Block::forward(const at::Tensor& x) const
{
    const Communicator& tp = settings_.mesh[GroupKind::tp];
    const bool by_sequence = settings_.sequence_parallel;
    // The bias of a row-parallel linear is added once, to the sum over the ranks.
    const auto residual = [&](const at::Tensor& in, const Affine& before, auto&& inside, const at::Tensor& bias) {
        const at::Tensor entered = enter_region(norm(in, before, settings_.shape), tp, by_sequence);
        const at::Tensor out = in.add(leave_region(inside(entered), tp, by_sequence));
        return bias.defined() ? out.add(bias) : out;
    };
    const at::Tensor after_attention = residual(
        x, attention_norm_, [&](const at::Tensor& in) { return attention(in); }, output_.bias);
    return residual(
        after_attention, mlp_norm_, [&](const at::Tensor& in) { return mlp(in); }, down_.bias);
}

} // namespace fourfold::trainer
