// SPDX-License-Identifier: GPL-3.0-or-later
// The language model of Llama 4: experts in each layer (Scout) or each second one (Maverick), one of them shared;
// attention within chunks but for each fourth layer.
#include "core/model/blocks.h"
#include "core/model/family.h"

namespace fourfold {

namespace {
Expected<void> read_llama4(const Fields& config, ModelShape& model)
{
    FOURFOLD_CHECK(config_keys::read_common(config, model));
    FOURFOLD_CHECK(config_keys::must_be_off(config, "attention_bias", "biases on all four attention projections"));
    FOURFOLD_CHECK(config_keys::read_rope(config, model));
    FOURFOLD_TRY(model.query_key_norm, config.boolean_or("use_qk_norm", true));
    model.window.chunked = true;
    FOURFOLD_TRY(model.window.tokens, config.integer_or("attention_chunk_size", 0, 1, config_keys::kMostWidth));
    FOURFOLD_TRY(
        model.window.full_every, config.small_integer_or("no_rope_layer_interval", 4, 1, config_keys::kMostLayers));
    Experts experts;
    FOURFOLD_CHECK(config_keys::read_routing(config, "num_local_experts", experts));
    FOURFOLD_TRY(experts.every, config.small_integer_or("interleave_moe_layer_step", 1, 1, config_keys::kMostLayers));
    experts.shared = 1;
    // The keys mean an expert's width and that of the layers without.
    experts.ffn = model.ffn;
    FOURFOLD_TRY(model.ffn, config.integer("intermediate_size_mlp", 1, config_keys::kMostWidth));
    model.experts = experts;
    return {};
}

void write_llama4(const ModelShape& model, Json& config)
{
    config_keys::write_common(model, config);
    config_keys::write_rope(model, config);
    config["use_qk_norm"] = model.query_key_norm;
    config["attention_chunk_size"] = model.window.tokens > 0 ? Json(model.window.tokens) : Json(nullptr);
    config["no_rope_layer_interval"] = model.window.full_every;
    config["num_local_experts"] = model.experts->count;
    config["num_experts_per_tok"] = model.experts->active;
    config["interleave_moe_layer_step"] = model.experts->every;
    config["intermediate_size"] = model.experts->ffn;
    config["intermediate_size_mlp"] = model.ffn;
}

constexpr GroupedNames kLlama4Attention{.query = "self_attn.q_proj",
    .key = "self_attn.k_proj",
    .value = "self_attn.v_proj",
    .output = "self_attn.o_proj",
    .weightless_norms = true};
constexpr MlpNames kRouted{
    "feed_forward.experts.*.gate_proj", "feed_forward.experts.*.up_proj", "feed_forward.experts.*.down_proj"};
constexpr MlpNames kShared{"feed_forward.shared_expert.gate_proj", "feed_forward.shared_expert.up_proj",
    "feed_forward.shared_expert.down_proj"};
constexpr MlpNames kDense{"feed_forward.gate_proj", "feed_forward.up_proj", "feed_forward.down_proj"};

void llama4_layer(Rows& rows, const ModelShape& m, bool experts)
{
    rows.emplace_back(NormRow{Role::attention_norm, "input_layernorm", m.hidden});
    add_grouped_attention(rows, m, kLlama4Attention);
    rows.emplace_back(NormRow{Role::mlp_norm, "post_attention_layernorm", m.hidden});
    if (experts)
        add_experts(rows, m, {.router = "feed_forward.router", .each = kRouted, .shared = kShared});
    else
        add_mlp(rows, m, kDense);
}
} // namespace

const Family kLlama4{"llama4_text", read_llama4, write_llama4, llama4_layer, kLlamaNames};

} // namespace fourfold
