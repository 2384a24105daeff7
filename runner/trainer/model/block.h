// SPDX-License-Identifier: GPL-3.0-or-later
// One layer of a decoder: x + attention(norm(x)), then x + mlp(norm(x)), for the Llama family (RMSNorm, rotary
// positions, grouped queries or latents, norms of heads, SwiGLU, experts; Gemma 3 with a norm behind attention and MLP
// too) and the GPT family (LayerNorm, GELU, biases; GPT-NeoX with both of the same x). Tensor parallelism is in it as
// the borders of its regions; on one rank they are the identity.
#pragma once

#include "core/plan/plan.h"
#include "runner/trainer/comm/mesh.h"
#include "runner/trainer/expert_parallel/expert_mlp.h"
#include "runner/trainer/kernels/operations.h"
#include "runner/trainer/model/attention_rule.h"
#include "runner/trainer/model/key_value_cache.h"
#include "runner/trainer/model/latent_attention.h"
#include "runner/trainer/model/rotary.h"
#include "runner/trainer/model/weights.h"
#include "runner/trainer/offload/activation_offload.h"
#include "runner/trainer/tensor_parallel/fp8_products.h"
#include "runner/trainer/tensor_parallel/region_products.h"

#include <optional>

namespace fourfold::trainer {

// Of layers that see the whole sequence, and of those with a window.
struct LayerAttentions {
    struct One {
        RotaryTable rotary; // undefined tensors: the family has no rotary positions
        AttentionRule rule;
    };
    One full, windowed;
    KeyValueCache* seen = nullptr; // of a text that goes on; null: a pass knows its own positions alone
};

// What all layers of a rank share.
struct BlockSettings {
    const Mesh& mesh;
    ModelShape shape;
    RegionProducts products; // of layers
    RegionProducts head_products;
    bool sequence_parallel = false;
    CpMethod cp_method = CpMethod::ring;
    LayerAttentions attention;
    // Where positions count from 0 in each document: those of this rank's tokens in the sequence, [s / cp] int64. The
    // rotary tables then hold all positions of a sequence.
    at::Tensor restarting;
    std::optional<ExpertRules> experts; // of layers with a mixture of experts
    Kernels kernels = Kernels::fused;
    ActivationOffload* offload = nullptr; // null: what layers keep stays on the device
};

// RMSNorm or LayerNorm over the last dimension, as the shape says.
at::Tensor norm(const at::Tensor& x, const Affine& weights, const BlockSettings& settings);

class Block {
public:
    // `settings` and `weights` must outlive the block, and it its graphs. `repeated`: the parts that the backward pass
    // computes once more.
    Block(const BlockSettings& settings, const Weights& weights, int layer, WordSet<RecomputePart> repeated);
    // x: [rows, b, h], the residual stream. `attentions`: of this micro-batch; its graph keeps them.
    using Attentions = std::shared_ptr<const LayerAttentions>;
    [[nodiscard]] at::Tensor forward(const at::Tensor& x, const Attentions& attentions) const;

private:
    // Each a norm and a tensor-parallel region.
    [[nodiscard]] at::Tensor attention(const at::Tensor& x, const Attentions& attentions) const;
    // `normed`: x behind its norm, or undefined.
    [[nodiscard]] at::Tensor feed_forward(const at::Tensor& x, at::Tensor normed) const;

    [[nodiscard]] at::Tensor normed(const at::Tensor& x, const Affine& weights) const;
    // Whether products of x keep no input of their own (model/fused_products.h).
    [[nodiscard]] bool keeps_no_inputs(const at::Tensor& x, const Affine& layer) const;
    // The norm, the region's border and the products behind it.
    [[nodiscard]] std::vector<at::Tensor> entered(
        const at::Tensor& x, const Affine& before, const std::vector<Affine>& layers) const;
    [[nodiscard]] std::vector<Affine> into_mlp() const;
    [[nodiscard]] at::Tensor out_of_mlp(const std::vector<at::Tensor>& inner) const;
    // Dense MLP or experts. x: the normed stream.
    [[nodiscard]] at::Tensor mlp(const at::Tensor& x) const;

    const BlockSettings& settings_;
    int layer_;
    LayerAttentions::One LayerAttentions::*kind_;
    WordSet<RecomputePart> repeated_;
    Affine attention_norm_, query_, key_, value_, query_norm_, key_norm_, sinks_, fused_, output_, attention_post_norm_;
    std::optional<LatentProjections> latent_;
    Affine mlp_norm_, gate_, up_, down_, mlp_post_norm_; // undefined in a layer whose experts share nothing
    std::optional<ExpertMlp> experts_;
};

} // namespace fourfold::trainer
