// SPDX-License-Identifier: GPL-3.0-or-later
// Decoders without experts.
#include "core/model/import/import.h"

#include <array>

namespace fourfold::import {

namespace {
constexpr Style kLlamaDense{.qkv_bias = kAttentionBias, .output_bias = kAttentionBias, .mlp_bias = kMlpBias};
constexpr Style kMistralDense{.full_every = 0};
constexpr Style kQwen2Dense{.qkv_bias = kYes};
constexpr Style kQwen3Dense{.query_key_norm = QkNorm::head, .qkv_bias = kAttentionBias, .output_bias = kAttentionBias};
constexpr Style kGemmaDense{.qkv_bias = kAttentionBias, .output_bias = kAttentionBias};
constexpr Style kGemma2Dense{
    .norms = BlockNorms::both, .qkv_bias = kAttentionBias, .output_bias = kAttentionBias, .full_every = 2};
constexpr Style kGemma3Dense{.query_key_norm = QkNorm::head,
    .norms = BlockNorms::both,
    .qkv_bias = kAttentionBias,
    .output_bias = kAttentionBias,
    .full_every = 6};
constexpr Style kPhi3Dense{.full_every = 0};
constexpr Style kCohereDense{.query_key_norm = QkNorm::whole,
    .has_query_key_norm = {"use_qk_norm", false},
    .norms = BlockNorms::one,
    .qkv_bias = kAttentionBias,
    .output_bias = kAttentionBias,
    .full_every = 4};
constexpr Style kOlmoDense{.qkv_bias = kAttentionBias, .output_bias = kAttentionBias, .weightless_norms = true};
constexpr Style kOlmo2Dense{.query_key_norm = QkNorm::whole,
    .norms = BlockNorms::behind,
    .qkv_bias = kAttentionBias,
    .output_bias = kAttentionBias,
    .full_every = 4};
constexpr Style kStableLmDense{.qkv_bias = {"use_qkv_bias", false}, .layer_norm = true};
constexpr Style kStarcoder2Dense{.qkv_bias = {"use_bias", true},
    .output_bias = {"use_bias", true},
    .mlp_bias = {"use_bias", true},
    .gated = false,
    .layer_norm = true,
    .full_every = 0};
constexpr Style kGlmDense{.qkv_bias = {"attention_bias", true}};
constexpr Style kGlm4Dense{.norms = BlockNorms::both, .qkv_bias = {"attention_bias", true}};
constexpr Style kExaone4Dense{.query_key_norm = QkNorm::head, .norms = BlockNorms::behind, .full_every = 4};
constexpr Style kSeedOssDense{
    .qkv_bias = {"attention_bias", true}, .output_bias = {"attention_out_bias", false}, .mlp_bias = kMlpBias};
constexpr Style kErnieDense{
    .qkv_bias = {"use_bias", false}, .output_bias = {"use_bias", false}, .mlp_bias = {"use_bias", false}};
constexpr Style kHunyuanDense{.query_key_norm = QkNorm::head,
    .has_query_key_norm = {"use_qk_norm", true},
    .qkv_bias = kAttentionBias,
    .output_bias = kAttentionBias};
constexpr Style kJais2Dense{.qkv_bias = {"attention_bias", true},
    .output_bias = {"attention_bias", true},
    .mlp_bias = {"mlp_bias", true},
    .gated = false,
    .layer_norm = true};
constexpr Style kNemotronDense{.qkv_bias = kAttentionBias,
    .output_bias = kAttentionBias,
    .mlp_bias = kMlpBias,
    .gated = false,
    .layer_norm = true};
constexpr Style kArceeDense{
    .qkv_bias = kAttentionBias, .output_bias = kAttentionBias, .mlp_bias = kMlpBias, .gated = false};
// Its activation, xIELU, learns two numbers in each layer.
constexpr Style kApertusDense{.query_key_norm = QkNorm::head,
    .qkv_bias = kAttentionBias,
    .output_bias = kAttentionBias,
    .gated = false,
    .layer_vectors = 2};
constexpr Style kInternLm3Dense{
    .qkv_bias = {"qkv_bias", false}, .output_bias = {"bias", false}, .mlp_bias = {"bias", false}};

// Windows in the layers behind the first ones.
Expected<void> read_qwen2(Import& in)
{
    FOURFOLD_CHECK(read_base(in, kQwen2Dense));
    FOURFOLD_TRY(const bool windows, in.keys.boolean_or("use_sliding_window", false));
    if (!windows || in.keys.has("layer_types"))
        return read_mixers(in, kQwen2Dense);
    FOURFOLD_TRY(in.model.window.tokens, in.keys.integer_or("sliding_window", 0, 0, config_keys::kMostWidth));
    FOURFOLD_TRY(const auto full, integer_of(in.keys, {"max_window_layers"}, in.model.layers, 0));
    for (auto layer = full; in.model.window.tokens > 0 && layer < in.model.layers; ++layer)
        in.decoder.layers[std::size_t(layer)].mixer = Mixer::window;
    return {};
}

Expected<void> read_stablelm(Import& in)
{
    FOURFOLD_CHECK(config_keys::must_be_off(in.keys, "qk_layernorm", "a norm of its own for every head"));
    FOURFOLD_CHECK(read_dense<kStableLmDense>(in));
    FOURFOLD_TRY(const bool parallel, in.keys.boolean_or("use_parallel_residual", false));
    if (parallel)
        in.decoder.norms = BlockNorms::one;
    return {};
}

// Norms behind attention and MLP as well where the file wants them.
Expected<void> read_hyperclovax(Import& in)
{
    FOURFOLD_CHECK(read_dense<kLlamaDense>(in));
    FOURFOLD_TRY(const bool post, in.keys.boolean_or("use_post_norm", true));
    if (post)
        in.decoder.norms = BlockNorms::both;
    return {};
}

constexpr std::array kDenseTable{
    Importer{"llama", read_dense<kLlamaDense>},
    Importer{"mistral", read_dense<kMistralDense>},
    Importer{"ministral", read_dense<kMistralDense>},
    Importer{"ministral3", read_dense<kMistralDense>},
    Importer{"qwen2", read_qwen2},
    Importer{"qwen3", read_dense<kQwen3Dense>},
    Importer{"mimo", read_qwen2},
    Importer{"gemma", read_dense<kGemmaDense>, true},
    Importer{"gemma2", read_dense<kGemma2Dense>, true},
    Importer{"gemma3_text", read_dense<kGemma3Dense>, true},
    Importer{"phi3", read_dense<kPhi3Dense>},
    Importer{"cohere", read_dense<kCohereDense>, true},
    Importer{"cohere2", read_dense<kCohereDense>, true},
    Importer{"olmo", read_dense<kOlmoDense>},
    Importer{"olmo2", read_dense<kOlmo2Dense>},
    Importer{"olmo3", read_dense<kOlmo2Dense>},
    Importer{"stablelm", read_stablelm},
    Importer{"starcoder2", read_dense<kStarcoder2Dense>, true},
    Importer{"glm", read_dense<kGlmDense>},
    Importer{"glm4", read_dense<kGlm4Dense>},
    Importer{"exaone", read_dense<kLlamaDense>},
    Importer{"exaone4", read_dense<kExaone4Dense>},
    Importer{"seed_oss", read_dense<kSeedOssDense>},
    Importer{"smollm3", read_dense<kLlamaDense>, true},
    Importer{"arcee", read_dense<kArceeDense>},
    Importer{"apertus", read_dense<kApertusDense>},
    Importer{"ernie4_5", read_dense<kErnieDense>, true},
    Importer{"hunyuan_v1_dense", read_dense<kHunyuanDense>},
    Importer{"jais2", read_dense<kJais2Dense>},
    Importer{"nemotron", read_dense<kNemotronDense>},
    Importer{"internlm3", read_dense<kInternLm3Dense>},
    Importer{"cwm", read_dense<kLlamaDense>},
    Importer{"iquestcoder", read_dense<kLlamaDense>},
    Importer{"helium", read_dense<kLlamaDense>},
    Importer{"granite", read_dense<kLlamaDense>},
    Importer{"hyperclovax", read_hyperclovax},
};
} // namespace

std::span<const Importer> dense_importers()
{
    return kDenseTable;
}

} // namespace fourfold::import
