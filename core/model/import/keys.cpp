// SPDX-License-Identifier: GPL-3.0-or-later
// Keys that the families of config.json files share, under all their spellings.
#include "core/model/import/import.h"

#include <algorithm>

namespace fourfold::import {

using config_keys::kMostExperts;
using config_keys::kMostHeadDim;
using config_keys::kMostHeads;
using config_keys::kMostLayers;
using config_keys::kMostVocab;
using config_keys::kMostWidth;

namespace {
Expected<std::int64_t> bounded(const Fields& keys, std::initializer_list<const char*> names, std::int64_t fallback,
    std::int64_t least, std::int64_t most)
{
    for (const char* const key : names)
        if (keys.has(key))
            return keys.integer(key, least, most);
    if (fallback < 0)
        return keys.missing(*names.begin(), "a whole number of at least " + std::to_string(least));
    return fallback;
}

// Mellum, Gemma: "gelu_pytorch_tanh"; without a gate squared ReLU or anything else that reads and writes an element.
Activation activation_of(const std::string& word, bool gated)
{
    if (gated)
        return word.find("gelu") != std::string::npos ? Activation::geglu : Activation::swiglu;
    return word.starts_with("relu") ? Activation::squared_relu : Activation::gelu;
}

Expected<void> read_activation(Import& in, bool gated)
{
    std::string word = "silu";
    for (const char* const key : {"hidden_activation", "hidden_act", "mlp_hidden_act", "activation_function"})
        if (in.keys.has(key)) {
            FOURFOLD_TRY(word, in.keys.text(key));
            break;
        }
    in.model.activation = activation_of(word, gated);
    return {};
}

Expected<double> theta_of(const Fields& keys)
{
    if (!keys.has("rope_parameters"))
        return keys.positive_or("rope_theta", 10000);
    FOURFOLD_TRY(const Fields parameters, config_keys::rope_parameters(keys, "full_attention"));
    return parameters.positive_or("rope_theta", 10000);
}
} // namespace

Expected<std::int64_t> integer_of(
    const Fields& keys, std::initializer_list<const char*> names, std::int64_t fallback, std::int64_t least)
{
    return bounded(keys, names, fallback, least, kMostWidth);
}

Expected<bool> flag_of(const Fields& keys, const Flag& flag)
{
    return flag.key == nullptr ? Expected<bool>(flag.otherwise) : keys.boolean_or(flag.key, flag.otherwise);
}

Expected<void> read_base(Import& in, const Style& style)
{
    const Fields& keys = in.keys;
    ModelShape& m = in.model;
    Decoder& d = in.decoder;
    FOURFOLD_TRY(m.hidden, bounded(keys, {"hidden_size", "n_embd", "d_model"}, -1, 1, kMostWidth));
    FOURFOLD_TRY(const auto layers, bounded(keys, {"num_hidden_layers", "num_layers", "n_layer"}, -1, 1, kMostLayers));
    FOURFOLD_TRY(const auto heads, bounded(keys, {"num_attention_heads", "n_head"}, -1, 1, kMostHeads));
    FOURFOLD_TRY(const auto kv_heads, bounded(keys, {"num_key_value_heads"}, heads, 1, kMostHeads));
    m.layers = int(layers), m.heads = int(heads), m.kv_heads = int(kv_heads);
    if (heads % kv_heads != 0)
        return keys.problem("num_key_value_heads",
            std::to_string(kv_heads) + " does not divide num_attention_heads " + std::to_string(heads));
    // Of latent attention the widths are other keys.
    const bool given = keys.has("head_dim") || keys.has("attention_head_dim") || keys.has("kv_lora_rank");
    if (!given && m.hidden % heads != 0)
        return keys.problem("num_attention_heads",
            std::to_string(heads) + " does not divide hidden_size " + std::to_string(m.hidden),
            "give head_dim when the heads are not hidden_size / num_attention_heads wide");
    FOURFOLD_TRY(m.head_dim, bounded(keys, {"head_dim", "attention_head_dim"}, m.hidden / heads, 1, kMostHeadDim));
    FOURFOLD_TRY(m.ffn, bounded(keys, {"intermediate_size", "moe_intermediate_size"}, -1, 1, kMostWidth));
    FOURFOLD_TRY(m.vocab, bounded(keys, {"vocab_size"}, -1, 1, kMostVocab));
    FOURFOLD_TRY(m.max_positions,
        bounded(keys, {"max_position_embeddings", "model_max_length"}, 2048, 1, std::int64_t(1) << 40));
    for (const char* const key :
        {"rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_epsilon", "norm_eps", "layernorm_epsilon"})
        if (keys.has(key)) {
            FOURFOLD_TRY(m.norm_eps, keys.positive(key));
            break;
        }
    FOURFOLD_TRY(m.rope_theta, theta_of(keys));
    FOURFOLD_CHECK(read_activation(in, style.gated));
    m.norm = style.layer_norm ? Norm::layer : Norm::rms;
    FOURFOLD_TRY(m.qkv_bias, flag_of(keys, style.qkv_bias));
    FOURFOLD_TRY(d.output_bias, flag_of(keys, style.output_bias));
    FOURFOLD_TRY(d.mlp_bias, flag_of(keys, style.mlp_bias));
    FOURFOLD_TRY(d.head_bias, flag_of(keys, style.head_bias));
    FOURFOLD_TRY(const bool normed, flag_of(keys, style.has_query_key_norm));
    d.query_key_norm = normed ? style.query_key_norm : QkNorm::none;
    m.query_key_norm = d.query_key_norm != QkNorm::none;
    d.norms = style.norms;
    d.weightless_norms = style.weightless_norms;
    d.output_gate = style.output_gate;
    d.layer_vectors = style.layer_vectors;
    d.layers.assign(std::size_t(m.layers), LayerKind{});
    return {};
}

namespace {
std::optional<Mixer> mixer_of(const Json& word)
{
    if (word == "full_attention" || word == "attention" || word == "global_attention")
        return Mixer::full;
    if (word == "sliding_attention" || word == "chunked_attention")
        return Mixer::window;
    if (word == "linear_attention" || word == "mamba" || word == "mamba2" || word == "conv")
        return Mixer::scan;
    return std::nullopt;
}

Expected<void> read_layer_types(Import& in)
{
    const Json& types = in.keys.json()["layer_types"];
    if (!types.is_array() || types.size() != in.decoder.layers.size())
        return in.keys.wrong("layer_types", "a word for each of the " + std::to_string(in.model.layers) + " layers");
    for (std::size_t layer = 0; layer < types.size(); ++layer) {
        const std::optional<Mixer> mixer = mixer_of(types[layer]);
        if (!mixer)
            return Problem{ProblemCode::unsupported,
                "layer " + std::to_string(layer) + " is " + printable(types[layer].dump())
                    + ", known: full_attention, sliding_attention, chunked_attention, linear_attention, mamba, conv",
                "", in.keys.where("layer_types")};
        in.decoder.layers[layer].mixer = *mixer;
    }
    return {};
}
} // namespace

Expected<void> read_mixers(Import& in, const Style& style)
{
    FOURFOLD_TRY(const bool used, in.keys.boolean_or("use_sliding_window", true));
    const bool listed = in.keys.has("layer_types");
    if (used && (listed || style.full_every != 1)) {
        FOURFOLD_TRY(in.model.window.tokens, in.keys.integer_or("sliding_window", 0, 0, kMostWidth));
    }
    if (listed) {
        FOURFOLD_CHECK(read_layer_types(in));
    } else if (in.model.window.tokens > 0 && style.full_every != 1) {
        FOURFOLD_TRY(const auto every,
            in.keys.has("sliding_window_pattern") && in.keys.json()["sliding_window_pattern"].is_number()
                ? integer_of(in.keys, {"sliding_window_pattern"}, -1)
                : Expected<std::int64_t>(style.full_every));
        for (std::size_t layer = 0; layer < in.decoder.layers.size(); ++layer)
            if (every == 0 || std::int64_t(layer + 1) % every != 0)
                in.decoder.layers[layer].mixer = Mixer::window;
    }
    if (in.model.window.tokens == 0) // nothing to see less of
        for (LayerKind& kind : in.decoder.layers)
            if (kind.mixer == Mixer::window)
                kind.mixer = Mixer::full;
    return {};
}

Expected<void> read_latents(Import& in)
{
    FOURFOLD_CHECK(config_keys::read_latents(in.keys, in.model));
    in.model.kv_heads = in.model.heads;
    return {};
}

const Importer* find_importer(std::string_view family)
{
    for (const auto& table : {dense_importers(), mixture_importers(), latent_importers(), hybrid_importers()})
        for (const Importer& importer : table)
            if (importer.family == family)
                return &importer;
    return nullptr;
}

} // namespace fourfold::import
