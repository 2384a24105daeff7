// SPDX-License-Identifier: GPL-3.0-or-later
// Decoders with a recurrence in place of attention, or beside it, in all or most of their layers.
#include "core/model/import/import.h"

#include <array>

namespace fourfold::import {

using config_keys::kMostHeadDim;
using config_keys::kMostHeads;

namespace {
// Keys of Mamba-2, with the prefix "mamba_" or without.
Expected<void> read_mamba2(Import& in)
{
    const Fields& keys = in.keys;
    Scan scan{.kind = ScanKind::mamba2};
    FOURFOLD_TRY(scan.heads,
        keys.has("mamba_n_heads")         ? keys.small_integer("mamba_n_heads", 1, kMostHeads)
            : keys.has("mamba_num_heads") ? keys.small_integer("mamba_num_heads", 1, kMostHeads)
                                          : keys.small_integer("num_heads", 1, kMostHeads));
    FOURFOLD_TRY(scan.head_dim, integer_of(keys, {"mamba_d_head", "mamba_head_dim", "head_dim"}, -1));
    FOURFOLD_TRY(const auto groups, integer_of(keys, {"mamba_n_groups", "n_groups"}, 1));
    FOURFOLD_TRY(scan.state, integer_of(keys, {"mamba_d_state", "ssm_state_size", "state_size"}, -1));
    FOURFOLD_TRY(const auto convolution, integer_of(keys, {"mamba_d_conv", "conv_kernel"}, 4));
    FOURFOLD_TRY(const auto chunk, integer_of(keys, {"mamba_chunk_size", "chunk_size"}, 256));
    if (scan.head_dim > kMostHeadDim || scan.state > kMostHeadDim || groups > scan.heads || convolution > 1024
        || chunk > 65536)
        return keys.problem("mamba_n_groups", "heads, groups and states of these sizes are no Mamba-2");
    scan.groups = int(groups), scan.convolution = int(convolution), scan.chunk = int(chunk);
    FOURFOLD_TRY(
        scan.convolution_bias, keys.boolean_or(keys.has("use_conv_bias") ? "use_conv_bias" : "mamba_conv_bias", true));
    FOURFOLD_TRY(scan.projection_bias, keys.boolean_or(keys.has("use_bias") ? "use_bias" : "mamba_proj_bias", false));
    in.decoder.scan = scan;
    return {};
}

// Kimi Linear has one number for keys and values, and its gates go through a projection down to a head's width.
struct DeltaKeys {
    const char *key_heads, *value_heads, *key_dim, *value_dim;
    bool channel_decay, low_rank;
};
constexpr DeltaKeys kGatedDelta{
    "linear_num_key_heads", "linear_num_value_heads", "linear_key_head_dim", "linear_value_head_dim", false, false};
constexpr DeltaKeys kKimiDelta{
    "linear_num_heads", "linear_num_heads", "linear_head_dim", "linear_head_dim", true, true};
constexpr DeltaKeys kWholeDelta{
    "linear_num_heads", "linear_num_heads", "linear_head_dim", "linear_head_dim", true, false};

Expected<void> read_delta(Import& in, const DeltaKeys& names)
{
    const Fields& keys = in.keys;
    Scan scan{.kind = ScanKind::delta, .channel_decay = names.channel_decay};
    FOURFOLD_TRY(scan.heads, keys.small_integer(names.value_heads, 1, kMostHeads));
    FOURFOLD_TRY(scan.groups, keys.small_integer(names.key_heads, 1, kMostHeads));
    FOURFOLD_TRY(scan.head_dim, keys.integer(names.value_dim, 1, kMostHeadDim));
    FOURFOLD_TRY(scan.state, keys.integer(names.key_dim, 1, kMostHeadDim));
    FOURFOLD_TRY(scan.convolution, keys.small_integer_or("linear_conv_kernel_dim", 4, 1, 1024));
    if (names.low_rank)
        scan.rank = scan.head_dim;
    in.decoder.scan = scan;
    return {};
}

constexpr Style kBaseHybrid{.qkv_bias = kAttentionBias, .output_bias = kAttentionBias, .mlp_bias = kMlpBias};
constexpr Style kQwen3NextHybrid{.query_key_norm = QkNorm::head,
    .qkv_bias = kAttentionBias,
    .output_bias = kAttentionBias,
    .output_gate = OutputGate::element,
    .shared_gate = true};
constexpr Style kOlmoHybridHybrid{
    .query_key_norm = QkNorm::whole, .qkv_bias = kAttentionBias, .output_bias = kAttentionBias};
constexpr Style kRoutedHybrid{.routing_bias = kYes};
constexpr Style kHeadGatedHybrid{.output_gate = OutputGate::head, .routing_bias = kYes};
constexpr Style kLfm2Hybrid{.query_key_norm = QkNorm::head};
constexpr Style kLfm2MoeHybrid{.query_key_norm = QkNorm::head, .routing_bias = {"use_expert_bias", true}};
constexpr Style kSquaredHybrid{.qkv_bias = kAttentionBias,
    .output_bias = kAttentionBias,
    .mlp_bias = kMlpBias,
    .gated = false,
    .routing_bias = kYes};
constexpr Style kLightningHybrid{};

// All layers scan but each so many-th.
void scan_but_every(Import& in, std::int64_t every, std::int64_t offset)
{
    for (std::size_t layer = 0; layer < in.decoder.layers.size(); ++layer)
        in.decoder.layers[layer].mixer = std::int64_t(layer) % every == offset % every ? Mixer::full : Mixer::scan;
}

template <bool experts>
Expected<void> read_qwen3_next(Import& in)
{
    FOURFOLD_CHECK(read_base(in, kQwen3NextHybrid));
    FOURFOLD_TRY(const bool gated, in.keys.boolean_or("attn_output_gate", true));
    in.decoder.output_gate = gated ? OutputGate::element : OutputGate::none;
    FOURFOLD_TRY(const auto every, integer_of(in.keys, {"full_attention_interval"}, 4));
    scan_but_every(in, every, every - 1);
    FOURFOLD_CHECK(read_mixers(in, kQwen3NextHybrid));
    FOURFOLD_CHECK(read_delta(in, kGatedDelta));
    return experts ? read_mixture(in, kQwen3NextHybrid) : Expected<void>();
}

Expected<void> read_olmo_hybrid(Import& in)
{
    FOURFOLD_CHECK(read_dense<kOlmoHybridHybrid>(in));
    return read_delta(in, kGatedDelta);
}

template <const Style& style, const DeltaKeys& names>
Expected<void> read_kimi(Import& in)
{
    FOURFOLD_CHECK(read_base(in, style));
    FOURFOLD_CHECK(read_mixers(in, style));
    FOURFOLD_CHECK(read_latents(in));
    FOURFOLD_CHECK(read_delta(in, names));
    return read_mixture(in, style);
}

// The MLP's width is rounded from a larger one (block_auto_adjust_ff_dim).
Expected<void> read_lfm2(Import& in)
{
    const Fields& keys = in.keys;
    FOURFOLD_CHECK(read_dense<kLfm2Hybrid>(in));
    Scan scan{.kind = ScanKind::convolution, .heads = 1, .groups = 1, .head_dim = in.model.hidden, .norm = false};
    FOURFOLD_TRY(scan.convolution, keys.small_integer_or("conv_L_cache", 3, 1, 1024));
    FOURFOLD_TRY(scan.convolution_bias, keys.boolean_or("conv_bias", false));
    scan.projection_bias = scan.convolution_bias;
    in.decoder.scan = scan;
    FOURFOLD_TRY(const auto width, integer_of(keys, {"block_ff_dim"}, in.model.ffn));
    in.model.ffn = width;
    FOURFOLD_TRY(const bool adjusted, keys.boolean_or("block_auto_adjust_ff_dim", true));
    if (!adjusted)
        return {};
    FOURFOLD_TRY(const double factor, keys.positive_or("block_ffn_dim_multiplier", 1));
    FOURFOLD_TRY(const auto multiple, integer_of(keys, {"block_multiple_of"}, 256));
    const auto wanted = std::int64_t(factor * double(2 * width / 3));
    in.model.ffn = (wanted + multiple - 1) / multiple * multiple;
    return {};
}

Expected<void> read_lfm2_moe(Import& in)
{
    FOURFOLD_CHECK(read_dense<kLfm2MoeHybrid>(in));
    Scan scan{.kind = ScanKind::convolution, .heads = 1, .groups = 1, .head_dim = in.model.hidden, .norm = false};
    FOURFOLD_TRY(scan.convolution, in.keys.small_integer_or("conv_L_cache", 3, 1, 1024));
    FOURFOLD_TRY(scan.convolution_bias, in.keys.boolean_or("conv_bias", false));
    scan.projection_bias = scan.convolution_bias;
    in.decoder.scan = scan;
    return read_mixture(in, kLfm2MoeHybrid);
}

Expected<void> read_jamba(Import& in)
{
    const Fields& keys = in.keys;
    FOURFOLD_CHECK(read_base(in, kBaseHybrid));
    FOURFOLD_TRY(const auto every, integer_of(keys, {"attn_layer_period"}, 8));
    FOURFOLD_TRY(const auto offset, integer_of(keys, {"attn_layer_offset"}, 4, 0));
    scan_but_every(in, every, offset);
    Scan scan{.kind = ScanKind::mamba, .heads = 1};
    FOURFOLD_TRY(const auto expand, integer_of(keys, {"mamba_expand"}, 2));
    scan.head_dim = expand * in.model.hidden;
    FOURFOLD_TRY(scan.state, keys.integer_or("mamba_d_state", 16, 1, kMostHeadDim));
    FOURFOLD_TRY(scan.rank, integer_of(keys, {"mamba_dt_rank"}, (in.model.hidden + 15) / 16));
    FOURFOLD_TRY(scan.convolution, keys.small_integer_or("mamba_d_conv", 4, 1, 1024));
    FOURFOLD_TRY(scan.convolution_bias, keys.boolean_or("mamba_conv_bias", true));
    FOURFOLD_TRY(scan.projection_bias, keys.boolean_or("mamba_proj_bias", false));
    if (scan.head_dim > kMostHeadDim)
        return keys.wrong("mamba_expand", "a width of at most " + std::to_string(kMostHeadDim));
    in.decoder.scan = scan;
    return read_mixture(in, kBaseHybrid);
}

Expected<void> read_bamba(Import& in)
{
    FOURFOLD_CHECK(read_base(in, kBaseHybrid));
    FOURFOLD_CHECK(read_mamba2(in));
    for (LayerKind& kind : in.decoder.layers)
        kind.mixer = Mixer::scan;
    if (in.keys.has("attn_layer_indices"))
        for (const Json& layer : in.keys.json()["attn_layer_indices"]) {
            if (!layer.is_number_integer() || layer.get<std::int64_t>() < 0
                || layer.get<std::int64_t>() >= in.model.layers)
                return in.keys.wrong("attn_layer_indices", "numbers of layers");
            in.decoder.layers[layer.get<std::size_t>()].mixer = Mixer::full;
        }
    return {};
}

// Attention and Mamba-2 side by side in every layer.
Expected<void> read_falcon_h1(Import& in)
{
    FOURFOLD_CHECK(read_base(in, kBaseHybrid));
    FOURFOLD_CHECK(read_mamba2(in));
    FOURFOLD_TRY(in.decoder.scan->norm, in.keys.boolean_or("mamba_rms_norm", false));
    for (LayerKind& kind : in.decoder.layers)
        kind.mixer = Mixer::parallel;
    return {};
}

// Without experts its shared MLP is the MLP.
Expected<void> read_granite_hybrid(Import& in)
{
    const Fields& keys = in.keys;
    FOURFOLD_CHECK(read_dense<kBaseHybrid>(in));
    in.decoder.mlp_bias = false;
    bool scans = false;
    for (const LayerKind& kind : in.decoder.layers)
        scans = scans || kind.scans();
    if (scans)
        FOURFOLD_CHECK(read_mamba2(in));
    FOURFOLD_TRY(const auto experts, integer_of(keys, {"num_local_experts"}, 0, 0));
    if (experts > 0)
        return read_mixture(in, kBaseHybrid);
    FOURFOLD_TRY(in.model.ffn, integer_of(keys, {"shared_intermediate_size"}, in.model.ffn));
    return {};
}

// Each layer is one branch: M Mamba-2, * attention, - an MLP, E experts.
std::optional<LayerKind> nemotron_layer(const std::string& word)
{
    if (word == "M" || word == "mamba" || word == "linear_attention")
        return LayerKind{Mixer::scan, LayerMlp::none};
    if (word == "*" || word == "attention" || word == "full_attention")
        return LayerKind{Mixer::full, LayerMlp::none};
    if (word == "-" || word == "mlp")
        return LayerKind{Mixer::none, LayerMlp::dense};
    if (word == "E" || word == "moe")
        return LayerKind{Mixer::none, LayerMlp::experts};
    return std::nullopt;
}

Expected<std::vector<std::string>> nemotron_words(const Fields& keys)
{
    std::vector<std::string> words;
    if (keys.has("hybrid_override_pattern")) {
        FOURFOLD_TRY(const std::string pattern, keys.text("hybrid_override_pattern"));
        for (const char letter : pattern)
            if (letter != '|')
                words.emplace_back(1, letter);
        return words;
    }
    const char* const key = keys.has("layers_block_type") ? "layers_block_type" : "layer_types";
    if (!keys.has(key) || !keys.json()[key].is_array())
        return keys.missing("hybrid_override_pattern", "a letter for each layer");
    for (const Json& word : keys.json()[key])
        words.push_back(word.is_string() ? word.get<std::string>() : word.dump());
    return words;
}

Expected<void> read_nemotron_h(Import& in)
{
    FOURFOLD_TRY(const std::vector<std::string> words, nemotron_words(in.keys));
    Json counted = in.keys.json(); // the list is what says how many layers there are
    counted["num_hidden_layers"] = words.size();
    FOURFOLD_TRY(const Fields keys, in.keys.with(counted));
    Import whole{keys, in.model, in.decoder};
    FOURFOLD_CHECK(read_base(whole, kSquaredHybrid));
    bool scans = false, experts = false;
    std::vector<LayerKind> layers;
    for (const std::string& word : words) {
        const std::optional<LayerKind> kind = nemotron_layer(word);
        if (!kind)
            return keys.problem(
                "hybrid_override_pattern", "no layer is written " + in_quotes(word) + ", expected M, *, - or E");
        layers.push_back(*kind);
        scans = scans || kind->scans();
        experts = experts || kind->mlp == LayerMlp::experts;
    }
    in.decoder.norms = BlockNorms::before;
    if (scans)
        FOURFOLD_CHECK(read_mamba2(whole));
    if (experts) {
        FOURFOLD_CHECK(read_mixture(whole, kSquaredHybrid));
        FOURFOLD_TRY(in.decoder.expert_hidden, integer_of(keys, {"moe_latent_size"}, 0, 0));
    }
    in.decoder.layers = std::move(layers);
    return {};
}

Expected<void> read_minimax(Import& in)
{
    FOURFOLD_CHECK(read_dense<kLightningHybrid>(in));
    Scan scan{.kind = ScanKind::lightning,
        .heads = in.model.heads,
        .groups = in.model.heads,
        .head_dim = in.model.head_dim,
        .state = in.model.head_dim};
    FOURFOLD_TRY(scan.chunk, in.keys.small_integer_or("block_size", 256, 1, 65536));
    in.decoder.scan = scan;
    return read_mixture(in, kLightningHybrid);
}

constexpr std::array kHybridTable{
    Importer{"qwen3_next", read_qwen3_next<true>},
    Importer{"qwen3_5_text", read_qwen3_next<false>},
    Importer{"qwen3_5_moe_text", read_qwen3_next<true>},
    Importer{"olmo_hybrid", read_olmo_hybrid},
    Importer{"kimi_linear", read_kimi<kRoutedHybrid, kKimiDelta>},
    Importer{"bailing_hybrid", read_kimi<kHeadGatedHybrid, kWholeDelta>},
    Importer{"lfm2", read_lfm2, true},
    Importer{"lfm2_moe", read_lfm2_moe, true},
    Importer{"jamba", read_jamba},
    Importer{"bamba", read_bamba},
    Importer{"falcon_h1", read_falcon_h1},
    Importer{"granitemoehybrid", read_granite_hybrid},
    Importer{"nemotron_h", read_nemotron_h},
    Importer{"minimax", read_minimax},
};
} // namespace

std::span<const Importer> hybrid_importers()
{
    return kHybridTable;
}

} // namespace fourfold::import
