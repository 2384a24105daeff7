// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/llama.h"

#include "runner/trainer/model/recompute.h"
#include "runner/trainer/tensor_parallel/regions.h"
#include "runner/trainer/tensor_parallel/vocabulary.h"

#include <ATen/ops/linear.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/silu.h>

namespace fourfold::trainer {

Llama::Llama(const ResolvedPlan& plan, const Mesh& mesh, const Weights& weights, const at::TensorOptions& options)
    : mesh_(mesh)
    , shape_(plan.model)
    , sequence_parallel_(plan.training.sequence_parallel)
    , recomputed_layers_(
          plan.training.recompute == Recompute::full ? plan.training.recompute_layers.value_or(plan.model.layers) : 0)
    , embedding_(weights["model.embed_tokens.weight"])
    , final_norm_(weights["model.norm.weight"])
    , head_(plan.model.tied_embeddings ? embedding_ : weights["lm_head.weight"])
    , rotary_(rotary_table(plan.model, plan.training.seq_len, options))
{
    for (int i = 0; i < shape_.layers; ++i) {
        const std::string prefix = "model.layers." + std::to_string(i) + ".";
        const auto weight = [&](const std::string& name) { return weights[prefix + name + ".weight"]; };
        const auto bias = [&](const std::string& name) {
            return weights.contains(prefix + name + ".bias") ? weights[prefix + name + ".bias"] : at::Tensor();
        };
        Layer layer;
        layer.attention_norm = weight("input_layernorm");
        layer.query = weight("self_attn.q_proj");
        layer.key = weight("self_attn.k_proj");
        layer.value = weight("self_attn.v_proj");
        layer.query_bias = bias("self_attn.q_proj");
        layer.key_bias = bias("self_attn.k_proj");
        layer.value_bias = bias("self_attn.v_proj");
        layer.output = weight("self_attn.o_proj");
        layer.mlp_norm = weight("post_attention_layernorm");
        layer.gate = weight("mlp.gate_proj");
        layer.up = weight("mlp.up_proj");
        layer.down = weight("mlp.down_proj");
        layers_.push_back(std::move(layer));
    }
}

at::Tensor Llama::norm(const at::Tensor& x, const at::Tensor& weight) const
{
    return at::rms_norm(x, {shape_.hidden}, weight, shape_.norm_eps);
}

at::Tensor Llama::attention(const Layer& layer, const at::Tensor& x) const
{
    const int64_t s = x.size(0), b = x.size(1), head_dim = shape_.head_dim;
    const auto heads = [&](const at::Tensor& projected) { return projected.view({s, b, -1, head_dim}); };
    // [s, b, heads, head_dim] -> [b, heads, s, head_dim]
    const at::Tensor query = rotate(heads(at::linear(x, layer.query, layer.query_bias)), rotary_).permute({1, 2, 0, 3});
    const at::Tensor key = rotate(heads(at::linear(x, layer.key, layer.key_bias)), rotary_).permute({1, 2, 0, 3});
    const at::Tensor value = heads(at::linear(x, layer.value, layer.value_bias)).permute({1, 2, 0, 3});
    const bool grouped = query.size(1) != key.size(1);
    const at::Tensor mixed
        = at::scaled_dot_product_attention(query, key, value, {}, 0.0, /*is_causal=*/true, std::nullopt, grouped);
    return at::linear(mixed.permute({2, 0, 1, 3}).reshape({s, b, -1}), layer.output);
}

at::Tensor Llama::mlp(const Layer& layer, const at::Tensor& x) const
{
    return at::linear(at::silu(at::linear(x, layer.gate)).mul(at::linear(x, layer.up)), layer.down);
}

at::Tensor Llama::block(const Layer& layer, const at::Tensor& x) const
{
    const auto region = [&](const at::Tensor& in, auto&& inside) {
        return leave_region(inside(enter_region(in, mesh_.tp, sequence_parallel_)), mesh_.tp, sequence_parallel_);
    };
    const at::Tensor after_attention
        = x.add(region(norm(x, layer.attention_norm), [&](const at::Tensor& in) { return attention(layer, in); }));
    return after_attention.add(
        region(norm(after_attention, layer.mlp_norm), [&](const at::Tensor& in) { return mlp(layer, in); }));
}

at::Tensor Llama::loss_sum(const at::Tensor& tokens, const at::Tensor& labels) const
{
    at::Tensor x = leave_region(partial_embedding(tokens, embedding_, mesh_.tp), mesh_.tp, sequence_parallel_);
    int index = 0;
    for (const Layer& layer : layers_)
        x = index++ < recomputed_layers_
            ? recomputed([this, &layer](const at::Tensor& in) { return block(layer, in); }, x)
            : block(layer, x);
    const at::Tensor last = enter_region(norm(x, final_norm_), mesh_.tp, sequence_parallel_);
    return vocabulary_cross_entropy(at::linear(last, head_), labels, mesh_.tp, shape_.vocab);
}

} // namespace fourfold::trainer
