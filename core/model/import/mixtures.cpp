// SPDX-License-Identifier: GPL-3.0-or-later
// Decoders with experts and attention in every layer.
#include "core/model/import/import.h"

#include <array>

namespace fourfold::import {

namespace {
constexpr Style kMixtralMoe{.full_every = 0};
constexpr Style kQwen2MoeMoe{.qkv_bias = {"qkv_bias", true}, .shared_gate = true};
constexpr Style kQwen3MoeMoe{.query_key_norm = QkNorm::head, .qkv_bias = kAttentionBias, .output_bias = kAttentionBias};
constexpr Style kOlmoeMoe{.query_key_norm = QkNorm::whole, .qkv_bias = kAttentionBias, .output_bias = kAttentionBias};
constexpr Style kFlexOlmoMoe{.query_key_norm = QkNorm::whole,
    .norms = BlockNorms::behind,
    .qkv_bias = kAttentionBias,
    .output_bias = kAttentionBias};
constexpr Style kPhiMoeMoe{.qkv_bias = kAttentionBias,
    .output_bias = kAttentionBias,
    .head_bias = {"lm_head_bias", false},
    .layer_norm = true,
    .full_every = 0};
constexpr Style kGraniteMoeMoe{.qkv_bias = kAttentionBias, .output_bias = kAttentionBias};
constexpr Style kGlm4MoeMoe{.query_key_norm = QkNorm::head,
    .has_query_key_norm = {"use_qk_norm", false},
    .qkv_bias = kAttentionBias,
    .routing_bias = kYes};
constexpr Style kSolarMoe{.qkv_bias = kAttentionBias, .routing_bias = kYes};
// Queries and keys of each head normed, whatever the file says.
constexpr Style kHeadNormedMoe{.query_key_norm = QkNorm::head,
    .qkv_bias = kAttentionBias,
    .output_bias = kAttentionBias,
    .full_every = 4,
    .routing_bias = kYes};
constexpr Style kHunyuanMoe{.query_key_norm = QkNorm::head,
    .has_query_key_norm = {"use_qk_norm", true},
    .qkv_bias = kAttentionBias,
    .output_bias = kAttentionBias};
constexpr Style kErnieMoe{.qkv_bias = {"use_bias", false},
    .output_bias = {"use_bias", false},
    .mlp_bias = {"use_bias", false},
    .routing_bias = {"moe_use_aux_free", true}};
constexpr Style kMiniMaxM2Moe{.query_key_norm = QkNorm::whole,
    .has_query_key_norm = {"use_qk_norm", true},
    .routing_bias = {"use_routing_bias", true}};
constexpr Style kAfmoeMoe{.query_key_norm = QkNorm::head,
    .norms = BlockNorms::both,
    .output_gate = OutputGate::element,
    .full_every = 4,
    .routing_bias = kYes};
constexpr Style kCohere2MoeMoe{
    .norms = BlockNorms::one, .qkv_bias = kAttentionBias, .output_bias = kAttentionBias, .full_every = 4};
constexpr Style kMellumMoe{.query_key_norm = QkNorm::head, .qkv_bias = kAttentionBias, .output_bias = kAttentionBias};
constexpr Style kLagunaMoe{
    .query_key_norm = QkNorm::head, .qkv_bias = kAttentionBias, .output_gate = OutputGate::head, .routing_bias = kYes};
constexpr Style kMiMoMoe{.qkv_bias = kAttentionBias, .routing_bias = kYes};
constexpr Style kGemma4Moe{.query_key_norm = QkNorm::head, .norms = BlockNorms::both};

// Hunyuan counts its one shared expert by a flag, and it is as wide as the others.
Expected<void> read_hunyuan(Import& in)
{
    FOURFOLD_CHECK(read_experts<kHunyuanMoe>(in));
    FOURFOLD_TRY(const bool shared, in.keys.boolean_or("use_mixed_mlp_moe", true));
    FOURFOLD_TRY(const auto count,
        in.keys.has("num_shared_expert") ? Expected<std::int64_t>(in.model.experts->shared)
                                         : Expected<std::int64_t>(std::int64_t(shared)));
    if (!shared)
        in.decoder.shared_ffn = 0;
    else if (in.decoder.shared_ffn == 0)
        in.decoder.shared_ffn = count * in.model.experts->ffn;
    in.model.experts->shared = in.decoder.shared_ffn > 0 ? std::max(1, int(count)) : 0;
    return {};
}

// Heads of their own for layers with a window; a list says which those are.
Expected<void> read_mimo(Import& in)
{
    const Fields& keys = in.keys;
    FOURFOLD_CHECK(read_base(in, kMiMoMoe));
    FOURFOLD_TRY(in.decoder.value_dim, integer_of(keys, {"v_head_dim"}, in.model.head_dim));
    AttentionShape windowed{in.model.heads, in.model.kv_heads, in.model.head_dim, in.decoder.value_dim};
    FOURFOLD_TRY(windowed.heads, keys.small_integer_or("swa_num_attention_heads", windowed.heads));
    FOURFOLD_TRY(windowed.kv_heads, keys.small_integer_or("swa_num_key_value_heads", windowed.kv_heads));
    FOURFOLD_TRY(windowed.head_dim, keys.integer_or("swa_head_dim", windowed.head_dim, 1, config_keys::kMostHeadDim));
    FOURFOLD_TRY(
        windowed.value_dim, keys.integer_or("swa_v_head_dim", windowed.value_dim, 1, config_keys::kMostHeadDim));
    FOURFOLD_TRY(windowed.sinks, keys.boolean_or("add_swa_attention_sink_bias", false));
    FOURFOLD_TRY(in.decoder.full_sinks, keys.boolean_or("add_full_attention_sink_bias", false));
    FOURFOLD_TRY(in.model.window.tokens, keys.integer_or("sliding_window", 0, 0, config_keys::kMostWidth));
    in.decoder.windowed = windowed;
    if (keys.has("hybrid_layer_pattern")) {
        const Json& pattern = keys.json()["hybrid_layer_pattern"];
        if (!pattern.is_array() || pattern.size() != in.decoder.layers.size())
            return keys.wrong("hybrid_layer_pattern", "a number for each layer");
        for (std::size_t layer = 0; layer < pattern.size(); ++layer)
            if (pattern[layer] == 1 && in.model.window.tokens > 0)
                in.decoder.layers[layer].mixer = Mixer::window;
    }
    return read_mixture(in, kMiMoMoe);
}

// Full layers have wider heads whose keys are their values; experts run beside a dense MLP, each with norms of its own.
Expected<void> read_gemma4(Import& in)
{
    const Fields& keys = in.keys;
    FOURFOLD_CHECK(read_base(in, kGemma4Moe));
    FOURFOLD_CHECK(read_mixers(in, kGemma4Moe));
    FOURFOLD_TRY(const auto per_layer, integer_of(keys, {"hidden_size_per_layer_input"}, 0, 0));
    FOURFOLD_TRY(const auto shared_keys, integer_of(keys, {"num_kv_shared_layers"}, 0, 0));
    if (per_layer > 0 || shared_keys > 0)
        return Problem{ProblemCode::unsupported,
            "embeddings for each layer and layers that share keys are not supported, expected 0", "",
            keys.where(per_layer > 0 ? "hidden_size_per_layer_input" : "num_kv_shared_layers")};
    in.decoder.windowed = AttentionShape{in.model.heads, in.model.kv_heads, in.model.head_dim, in.model.head_dim};
    FOURFOLD_TRY(
        in.model.head_dim, keys.integer_or("global_head_dim", in.model.head_dim, 1, config_keys::kMostHeadDim));
    FOURFOLD_TRY(in.decoder.full_values_are_keys, keys.boolean_or("attention_k_eq_v", false));
    if (in.decoder.full_values_are_keys) {
        FOURFOLD_TRY(in.model.kv_heads, keys.small_integer_or("num_global_key_value_heads", in.model.kv_heads));
    }
    FOURFOLD_TRY(const bool experts, keys.boolean_or("enable_moe_block", false));
    if (!experts)
        return {};
    FOURFOLD_CHECK(read_mixture(in, kGemma4Moe));
    in.decoder.dense_beside = true;
    // Three more norms, a scale for each element that the router sees and for each expert.
    in.decoder.layer_vectors = 4 * in.model.hidden + in.model.experts->count;
    return {};
}

constexpr std::array kMoeTable{
    Importer{"mixtral", read_experts<kMixtralMoe>},
    Importer{"qwen2_moe", read_experts<kQwen2MoeMoe>},
    Importer{"qwen3_moe", read_experts<kQwen3MoeMoe>},
    Importer{"olmoe", read_experts<kOlmoeMoe>},
    Importer{"flex_olmo", read_experts<kFlexOlmoMoe>},
    Importer{"phimoe", read_experts<kPhiMoeMoe>},
    Importer{"granitemoe", read_experts<kGraniteMoeMoe>},
    Importer{"granitemoeshared", read_experts<kGraniteMoeMoe>},
    Importer{"glm4_moe", read_experts<kGlm4MoeMoe>},
    Importer{"sarvam_moe", read_experts<kGlm4MoeMoe>},
    Importer{"solar_open", read_experts<kSolarMoe>},
    Importer{"hy_v3", read_experts<kHeadNormedMoe>},
    Importer{"dots1", read_experts<kHeadNormedMoe>},
    Importer{"exaone_moe", read_experts<kHeadNormedMoe>},
    Importer{"hunyuan_v1_moe", read_hunyuan},
    Importer{"ernie4_5_moe", read_experts<kErnieMoe>, true},
    Importer{"minimax_m2", read_experts<kMiniMaxM2Moe>},
    Importer{"afmoe", read_experts<kAfmoeMoe>},
    Importer{"cohere2_moe", read_experts<kCohere2MoeMoe>, true},
    Importer{"mellum", read_experts<kMellumMoe>},
    Importer{"laguna", read_experts<kLagunaMoe>},
    Importer{"mimo_v2_flash", read_mimo},
    Importer{"gemma4_text", read_gemma4, true},
};
} // namespace

std::span<const Importer> mixture_importers()
{
    return kMoeTable;
}

} // namespace fourfold::import
