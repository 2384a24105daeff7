// SPDX-License-Identifier: GPL-3.0-or-later
// Mixture-of-experts decoders: Mixtral (paper arXiv:2401.04088, section 2), DeepSeek-V3 (arXiv:2412.19437, section 2.1:
// multi-head latent attention, shared experts, first layers dense).
#include "core/model/blocks.h"
#include "core/model/family.h"

namespace fourfold {

namespace {
using config_keys::kMostExperts;
using config_keys::kMostWidth;

constexpr double kDeepseekScale = 2.5; // of DeepSeek-V3, Hugging Face's default

Expected<void> read_mixtral(const Fields& config, ModelShape& model)
{
    FOURFOLD_CHECK(config_keys::read_common(config, model));
    FOURFOLD_CHECK(config_keys::read_rope(config, model));
    Experts experts;
    FOURFOLD_CHECK(config_keys::read_routing(config, "num_local_experts", experts));
    FOURFOLD_CHECK(config_keys::read_balance(config, "router_aux_loss_coef", experts));
    experts.ffn = model.ffn;
    model.experts = experts;
    return config_keys::read_window(config, model);
}
void write_mixtral(const ModelShape& model, Json& config)
{
    config_keys::write_common(model, config);
    config_keys::write_rope(model, config);
    config_keys::write_window(model, config);
    config["num_local_experts"] = model.experts->count;
    config["num_experts_per_tok"] = model.experts->active;
    if (model.experts->balance > 0)
        config["router_aux_loss_coef"] = model.experts->balance;
}

void mixtral_layer(Rows& rows, const ModelShape& m, bool /*experts*/)
{
    rows.emplace_back(NormRow{Role::attention_norm, "input_layernorm", m.hidden});
    add_grouped_attention(rows, m, kLlamaAttention);
    rows.emplace_back(NormRow{Role::mlp_norm, "post_attention_layernorm", m.hidden});
    const std::string_view gate = "block_sparse_moe.experts.*.w1", up = "block_sparse_moe.experts.*.w3";
    add_experts(rows, m, {.router = "block_sparse_moe.gate", .each = {gate, up, "block_sparse_moe.experts.*.w2"}});
}

Expected<void> read_deepseek(const Fields& config, ModelShape& model)
{
    FOURFOLD_CHECK(config_keys::read_latents(config, model));
    FOURFOLD_TRY(model.hidden, config.integer("hidden_size", 1, kMostWidth));
    FOURFOLD_TRY(model.layers, config.small_integer("num_hidden_layers", 1, config_keys::kMostLayers));
    FOURFOLD_TRY(model.heads, config.small_integer("num_attention_heads", 1, config_keys::kMostHeads));
    model.kv_heads = model.heads; // latent attention expands keys and values to every head
    FOURFOLD_TRY(model.ffn, config.integer("intermediate_size", 1, kMostWidth));
    FOURFOLD_TRY(model.vocab, config.integer("vocab_size", 1, config_keys::kMostVocab));
    FOURFOLD_TRY(model.max_positions, config.integer_or("max_position_embeddings", 4096));
    FOURFOLD_TRY(model.norm_eps, config.positive_or("rms_norm_eps", 1e-6));
    FOURFOLD_CHECK(config_keys::check_activation(config, "hidden_act", {"silu", "swish"}));
    FOURFOLD_CHECK(config_keys::must_be_off(config, "attention_bias", "biases in latent attention"));
    FOURFOLD_CHECK(config_keys::read_rope(config, model));

    Experts experts;
    FOURFOLD_CHECK(config_keys::read_routing(config, "n_routed_experts", experts));
    FOURFOLD_TRY(experts.ffn, config.integer("moe_intermediate_size", 1, kMostWidth));
    FOURFOLD_TRY(experts.shared, config.small_integer_or("n_shared_experts", 0, 0, kMostExperts));
    FOURFOLD_TRY(
        experts.dense_layers, config.small_integer_or("first_k_dense_replace", 0, 0, config_keys::kMostLayers));
    FOURFOLD_TRY(experts.groups, config.small_integer_or("n_group", 0, 0, kMostExperts));
    FOURFOLD_TRY(experts.active_groups, config.small_integer_or("topk_group", 0, 0, kMostExperts));
    if (experts.active_groups > experts.groups)
        return config.problem("topk_group",
            std::to_string(experts.active_groups) + " is more than n_group " + std::to_string(experts.groups));
    if (experts.dense_layers > model.layers)
        return config.problem("first_k_dense_replace",
            std::to_string(experts.dense_layers) + " is more than num_hidden_layers " + std::to_string(model.layers));
    if (config.has("moe_layer_freq") && config.json()["moe_layer_freq"] != 1)
        return Problem{ProblemCode::unsupported,
            "expected 1 (every layer after the dense ones has experts), found "
                + printable(config.json()["moe_layer_freq"].dump()),
            {}, config.where("moe_layer_freq")};
    experts.sigmoid = true;
    FOURFOLD_TRY(experts.normalised, config.boolean_or("norm_topk_prob", true));
    FOURFOLD_TRY(experts.scale, config.positive_or("routed_scaling_factor", kDeepseekScale));
    FOURFOLD_CHECK(config_keys::read_balance(config, "aux_loss_alpha", experts));
    FOURFOLD_TRY(model.predicted_ahead, config_keys::read_modules_ahead(config));
    model.experts = experts;
    return {};
}
void write_deepseek(const ModelShape& model, Json& config)
{
    config_keys::write_common(model, config);
    config.erase("head_dim");
    config_keys::write_rope(model, config);
    config["q_lora_rank"] = model.latent->q_rank > 0 ? Json(model.latent->q_rank) : Json(nullptr);
    config["kv_lora_rank"] = model.latent->kv_rank;
    config["qk_nope_head_dim"] = model.latent->nope_head_dim;
    config["qk_rope_head_dim"] = model.latent->rope_head_dim;
    config["v_head_dim"] = model.latent->value_head_dim;
    config["n_routed_experts"] = model.experts->count;
    config["num_experts_per_tok"] = model.experts->active;
    config["moe_intermediate_size"] = model.experts->ffn;
    config["n_shared_experts"] = model.experts->shared;
    config["first_k_dense_replace"] = model.experts->dense_layers;
    if (model.experts->active_groups > 0) {
        config["n_group"] = model.experts->groups;
        config["topk_group"] = model.experts->active_groups;
    }
    if (!model.experts->normalised)
        config["norm_topk_prob"] = false;
    if (model.experts->scale != kDeepseekScale)
        config["routed_scaling_factor"] = model.experts->scale;
    if (model.experts->balance > 0)
        config["aux_loss_alpha"] = model.experts->balance;
    if (model.predicted_ahead > 0)
        config["num_nextn_predict_layers"] = model.predicted_ahead;
}

void deepseek_layer(Rows& rows, const ModelShape& m, bool experts)
{
    rows.emplace_back(NormRow{Role::attention_norm, "input_layernorm", m.hidden});
    add_latent_attention(rows, m);
    rows.emplace_back(NormRow{Role::mlp_norm, "post_attention_layernorm", m.hidden});
    if (!experts) {
        add_mlp(rows, m, kLlamaMlp);
        return;
    }
    add_experts(rows, m,
        {.router = "mlp.gate",
            .routing_bias = "mlp.gate.e_score_correction_bias",
            .each = kLlamaExpert,
            .shared = {"mlp.shared_experts.gate_proj", "mlp.shared_experts.up_proj", "mlp.shared_experts.down_proj"}});
}
} // namespace

const Family kMixtral{
    "mixtral", read_mixtral, write_mixtral, mixtral_layer, kLlamaNames, false, true, false, "MixtralForCausalLM"};
const Family kDeepseekV3{"deepseek_v3", read_deepseek, write_deepseek, deepseek_layer, kLlamaNames, false, true, false,
    "DeepseekV3ForCausalLM"};

} // namespace fourfold
