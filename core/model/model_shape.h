// SPDX-License-Identifier: GPL-3.0-or-later
// The shape of a decoder-only language model, independent of how it is split over GPUs.
#pragma once

#include "core/base/json.h"
#include "core/model/decoder.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fourfold {

enum class Positions { rope, learned, alibi };
enum class Norm { rms, layer };
// clamped_swiglu: (up + 1) gate sigmoid(1.702 gate), of gates up to `activation_limit` and of ups between its negative
// and it (GPT-OSS, arXiv:2508.10925, section 2).
enum class Activation { swiglu, clamped_swiglu, geglu, gelu, squared_relu };

// Mixture of experts (Mixtral, DeepSeek-V3, Llama 4). Dense models have no Experts.
struct Experts {
    int count = 0; // routed experts per MoE layer
    int active = 0; // routed experts per token (top-k)
    int64_t ffn = 0; // hidden size of one routed expert
    int shared = 0; // experts that every token uses
    int dense_layers = 0; // first layers that keep a dense MLP
    int every = 1; // behind those each so many-th layer has experts, counted from the model's first
    // Routing that keeps a token's experts in few of equally large groups, one or several a node; 0 = any expert.
    int groups = 0, active_groups = 0;
    // What a chosen expert's answer counts: the softmax of the router's logits, or the sigmoid of its own
    // (DeepSeek-V3); of the chosen ones divided by their sum, where `normalised`; times `scale`.
    bool sigmoid = false, normalised = true;
    double scale = 1;
    double balance = 0; // coefficient of the balance loss; 0 = none
};

// Multi-head latent attention (DeepSeek-V2 paper, section 2.1): low-rank projections of queries and of keys/values.
struct LatentAttention {
    int64_t q_rank = 0; // 0 = full-rank queries
    int64_t kv_rank = 0;
    int64_t nope_head_dim = 0, rope_head_dim = 0, value_head_dim = 0;
};

// Attention to the nearest tokens in most layers; each `full_every`-th one sees the whole sequence.
struct AttentionWindow {
    int64_t tokens = 0; // 0 = every layer sees the whole sequence
    int full_every = 1;
    bool chunked = false; // back to the begin of the token's own chunk instead of over so many tokens (Llama 4)
};

// Rotary position scaling as in Hugging Face configs: "linear", "dynamic", "llama3", "yarn", "longrope"; `factor` 1 =
// none.
struct RopeScaling {
    std::string type; // empty = none
    double factor = 1, low_freq_factor = 1, high_freq_factor = 4;
    int64_t original_positions = 8192;
    // yarn (arXiv:2309.00071): turns in the original context beyond which a plane is left alone, below which it is
    // stretched; `truncate`: the planes between them from a whole number to a whole number.
    double beta_fast = 32, beta_slow = 1;
    bool truncate = true;
    double mscale = 0, mscale_all_dim = 0; // 0: not given
    double attention_factor = 0; // yarn, longrope: of cosines and sines; 0: by the formula
    std::vector<double> short_factors, long_factors; // longrope (arXiv:2402.13753): of each plane

    bool operator==(const RopeScaling&) const = default;
};

struct ModelShape {
    std::string id; // preset id, empty for a custom shape
    std::string name; // for people: "Llama 3.1 8B"
    std::string model_type; // Hugging Face family: llama, mistral, qwen2, mixtral, deepseek_v3, gpt2, bloom ...
    int layers = 0;
    int64_t hidden = 0;
    int heads = 0, kv_heads = 0;
    int64_t head_dim = 0;
    int64_t ffn = 0;
    int64_t vocab = 0; // as published
    int64_t max_positions = 0;
    Activation activation = Activation::swiglu;
    double activation_limit = 0;
    bool exact_gelu = false; // GELU by the error function, not by its tanh approximation
    Norm norm = Norm::rms;
    Positions positions = Positions::rope;
    double rope_theta = 10000, norm_eps = 1e-5;
    RopeScaling rope_scaling;
    bool tied_embeddings = false;
    bool qkv_bias = false; // Qwen2
    bool linear_bias = false; // every linear layer (GPT-2, BLOOM)
    bool embedding_norm = false; // BLOOM's LayerNorm after the embedding
    bool query_key_norm = false; // of every head, before the rotation
    // Gemma: norms multiply by 1 + weight, embeddings by the square root of `hidden`; scores are divided by the square
    // root of this (0: head_dim); layers with a window turn by a theta of their own (0: the same, with its scaling).
    bool offset_norms = false, scaled_embedding = false;
    double score_dimension = 0, window_rope_theta = 0;
    // GPT-NeoX: the share of each head that is turned, and attention and MLP of the same input.
    double rotary_share = 1;
    bool parallel_residual = false;
    AttentionWindow window;
    // Modules that each predict one token further ahead, in training alone: a projection of the stream beside the next
    // token's embedding, a layer, and the head once more (DeepSeek-V3, arXiv:2412.19437, section 2.2). No count of
    // parameters below has them, but the FLOPs of a token do (flops.h).
    int predicted_ahead = 0;
    std::optional<Experts> experts;
    std::optional<LatentAttention> latent;
    std::optional<Decoder> decoder; // of model_type "decoder": what is described layer by layer

    // Dimensions of a head that are rotated.
    [[nodiscard]] int64_t rotary_dim() const
    {
        return latent ? latent->rope_head_dim : int64_t(double(head_dim) * rotary_share) / 2 * 2;
    }
    // Whether a layer's attention sees a window alone.
    [[nodiscard]] bool windowed(int layer) const;
    [[nodiscard]] bool gated() const { return activation <= Activation::geglu; }
    [[nodiscard]] bool is_moe_layer(int layer) const;
    // How many of `count` layers from `first` on have experts.
    [[nodiscard]] int moe_layers(int first, int count) const;
    [[nodiscard]] int moe_layers() const { return moe_layers(0, layers); }

    // Of the layers that attend; the rest see the whole sequence.
    [[nodiscard]] double windowed_share() const;
    // To how many keys a token of a windowed layer attends on average, times two: the side of a square whose lower half
    // has as many scores as the window leaves.
    [[nodiscard]] double window_keys(double seq_len) const;

    // All parameters, tied embeddings once, without vocabulary padding.
    [[nodiscard]] double parameters() const;
    // Parameters that take part in matrix products for one token: input lookup excluded, head counted once (also when
    // tied), of the routed experts only the active ones.
    [[nodiscard]] double active_matmul_parameters() const;
    // The same of the modules that predict further tokens, the head once for each.
    [[nodiscard]] double active_matmul_parameters_ahead() const;
};

struct ImportReport; // core/model/import_report.h

// Reads the keys of a Hugging Face config.json: as the family that the trainer runs where it is one of them, else as
// model_type "decoder". A model with images or sound is read as its language model. Errors name the missing or
// contradictory key. `report`: what was used, where somebody asks.
Expected<ModelShape> model_from_config(const Json& config, const std::string& where, ImportReport* report = nullptr);
// Writes a config.json from which model_from_config makes the same shape.
Json config_from_model(const ModelShape& model);

} // namespace fourfold
