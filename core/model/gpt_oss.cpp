// SPDX-License-Identifier: GPL-3.0-or-later
// GPT-OSS (arXiv:2508.10925, section 2): every layer with experts, biases everywhere, a learned sink in the softmax of
// each head, and a window in every second layer.
#include "core/model/blocks.h"
#include "core/model/family.h"

namespace fourfold {

namespace {
constexpr double kLimit = 7; // of both published models, Hugging Face's default

Expected<void> read_gpt_oss(const Fields& config, ModelShape& model)
{
    FOURFOLD_CHECK(config_keys::read_common(config, model));
    FOURFOLD_CHECK(config_keys::read_rope(config, model));
    model.qkv_bias = model.linear_bias = true;
    model.window.full_every = 2;
    FOURFOLD_TRY(model.window.tokens, config.integer_or("sliding_window", 0, 1, config_keys::kMostWidth));
    FOURFOLD_CHECK(config_keys::check_layer_types(config, model));
    FOURFOLD_CHECK(config_keys::check_biased_attention(config));
    Experts experts;
    FOURFOLD_CHECK(config_keys::read_routing(config, "num_local_experts", experts));
    FOURFOLD_CHECK(config_keys::read_balance(config, "router_aux_loss_coef", experts));
    model.activation = Activation::clamped_swiglu;
    FOURFOLD_TRY(model.activation_limit, config.positive_or("swiglu_limit", kLimit));
    experts.ffn = model.ffn;
    model.experts = experts;
    return {};
}

void write_gpt_oss(const ModelShape& model, Json& config)
{
    config_keys::write_common(model, config);
    config_keys::write_rope(model, config);
    config["sliding_window"] = model.window.tokens > 0 ? Json(model.window.tokens) : Json(nullptr);
    config["num_local_experts"] = model.experts->count;
    config["num_experts_per_tok"] = model.experts->active;
    if (model.experts->balance > 0)
        config["router_aux_loss_coef"] = model.experts->balance;
    if (model.activation_limit != kLimit)
        config["swiglu_limit"] = model.activation_limit;
}

constexpr GroupedNames kAttentionWithSinks{
    "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", {}, {}, "self_attn.sinks"};

// The published files keep the experts in 4 bits, which no trainer here reads; files of 16 bits have them too.
void gpt_oss_layer(Rows& rows, const ModelShape& m, bool /*experts*/)
{
    rows.emplace_back(NormRow{Role::attention_norm, "input_layernorm", m.hidden});
    add_grouped_attention(rows, m, kAttentionWithSinks);
    rows.emplace_back(NormRow{Role::mlp_norm, "post_attention_layernorm", m.hidden});
    add_experts(rows, m, {.router = "mlp.router", .each = kLlamaExpert, .biases = true});
}
} // namespace

const Family kGptOss{.model_type = "gpt_oss",
    .read = read_gpt_oss,
    .write = write_gpt_oss,
    .layer = gpt_oss_layer,
    .names = kLlamaNames,
    .trainer_runs = true,
    .architecture = "GptOssForCausalLM",
    .experts_together = true};

} // namespace fourfold
