// SPDX-License-Identifier: GPL-3.0-or-later
// The language model of Gemma 3 (arXiv:2503.19786, section 2): five layers with a window to each that sees everything,
// QK-norm, a norm before and behind attention and MLP, GELU gates.
#include "core/model/blocks.h"
#include "core/model/family.h"

namespace fourfold {

namespace {
Expected<void> read_gemma3(const Fields& config, ModelShape& model)
{
    model.activation = Activation::geglu;
    model.query_key_norm = model.offset_norms = model.scaled_embedding = true;
    FOURFOLD_CHECK(config_keys::read_widths(config, model));
    FOURFOLD_CHECK(config_keys::check_activation(config, "hidden_activation", {"gelu_pytorch_tanh"}));
    FOURFOLD_CHECK(config_keys::must_be_off(config, "attention_bias", "biases on all four attention projections"));
    FOURFOLD_CHECK(config_keys::read_rope(config, model));
    FOURFOLD_TRY(model.window.tokens, config.integer_or("sliding_window", 0, 1, config_keys::kMostWidth));
    FOURFOLD_TRY(
        model.window.full_every, config.small_integer_or("sliding_window_pattern", 6, 1, config_keys::kMostLayers));
    FOURFOLD_CHECK(config_keys::check_layer_types(config, model));
    FOURFOLD_TRY(model.window_rope_theta, config.positive_or("rope_local_base_freq", 10000));
    if (config.has("rope_parameters")) {
        FOURFOLD_TRY(const Fields windowed, config_keys::rope_parameters(config, "sliding_attention"));
        FOURFOLD_TRY(model.window_rope_theta, windowed.positive_or("rope_theta", model.window_rope_theta));
    }
    for (const char* const key : {"final_logit_softcapping", "attn_logit_softcapping"})
        if (config.has(key))
            return Problem{
                ProblemCode::unsupported, "caps of logits are not supported, expected null", {}, config.where(key)};
    FOURFOLD_TRY(model.score_dimension, config.positive_or("query_pre_attn_scalar", 256));
    return {};
}

void write_gemma3(const ModelShape& model, Json& config)
{
    config_keys::write_common(model, config);
    config.erase("hidden_act");
    config["hidden_activation"] = "gelu_pytorch_tanh";
    config_keys::write_rope(model, config);
    config["sliding_window"] = model.window.tokens > 0 ? Json(model.window.tokens) : Json(nullptr);
    config["sliding_window_pattern"] = model.window.full_every;
    config["rope_local_base_freq"] = model.window_rope_theta;
    config["query_pre_attn_scalar"] = model.score_dimension;
}

void gemma3_layer(Rows& rows, const ModelShape& m, bool /*experts*/)
{
    rows.emplace_back(NormRow{Role::attention_norm, "input_layernorm", m.hidden});
    add_grouped_attention(rows, m, kLlamaAttention);
    rows.emplace_back(NormRow{Role::attention_post_norm, "post_attention_layernorm", m.hidden});
    rows.emplace_back(NormRow{Role::mlp_norm, "pre_feedforward_layernorm", m.hidden});
    add_mlp(rows, m, kLlamaMlp);
    rows.emplace_back(NormRow{Role::mlp_post_norm, "post_feedforward_layernorm", m.hidden});
}
} // namespace

const Family kGemma3{
    "gemma3_text", read_gemma3, write_gemma3, gemma3_layer, kLlamaNames, true, true, false, "Gemma3ForCausalLM"};

} // namespace fourfold
