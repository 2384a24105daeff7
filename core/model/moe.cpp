// SPDX-License-Identifier: GPL-3.0-or-later
// Mixture-of-experts decoders: Mixtral (paper arXiv:2401.04088, section 2), DeepSeek-V3 (arXiv:2412.19437, section 2.1:
// multi-head latent attention, shared experts, first layers dense).
#include "core/model/family.h"

namespace fourfold {

namespace {
using Split = TableBuilder::Split;
using config_keys::kMostExperts;
using config_keys::kMostWidth;

Expected<void> check_active(const Fields& config, const Experts& experts, const std::string& count_key)
{
    if (experts.active <= experts.count)
        return {};
    return config.problem("num_experts_per_tok",
        std::to_string(experts.active) + " is more than " + count_key + " " + std::to_string(experts.count));
}

Expected<void> read_mixtral(const Fields& config, ModelShape& model)
{
    FOURFOLD_CHECK(config_keys::read_common(config, model));
    FOURFOLD_CHECK(config_keys::read_rope(config, model));
    Experts experts;
    FOURFOLD_TRY(experts.count, config.small_integer("num_local_experts", 1, kMostExperts));
    FOURFOLD_TRY(experts.active, config.small_integer("num_experts_per_tok", 1, kMostExperts));
    FOURFOLD_CHECK(check_active(config, experts, "num_local_experts"));
    experts.ffn = model.ffn;
    model.experts = experts;
    return {};
}
void write_mixtral(const ModelShape& model, Json& config)
{
    config_keys::write_common(model, config);
    config_keys::write_rope(model, config);
    config["num_local_experts"] = model.experts->count;
    config["num_experts_per_tok"] = model.experts->active;
}

void mixtral_layer(TableBuilder& b)
{
    const ModelShape& m = b.model;
    const int64_t queries = m.heads * m.head_dim, keys = m.kv_heads * m.head_dim;
    b.prefix = "model.layers." + std::to_string(b.layer) + ".";
    b.norm("input_layernorm", m.hidden);
    b.linear("self_attn.q_proj", queries, m.hidden, Split::columns, ParameterKind::attention, false);
    b.linear("self_attn.k_proj", keys, m.hidden, Split::columns, ParameterKind::attention, false);
    b.linear("self_attn.v_proj", keys, m.hidden, Split::columns, ParameterKind::attention, false);
    b.linear("self_attn.o_proj", m.hidden, queries, Split::rows, ParameterKind::attention, false, true);
    b.norm("post_attention_layernorm", m.hidden);
    b.linear("block_sparse_moe.gate", m.experts->count, m.hidden, Split::none, ParameterKind::router, false);
    for (int expert = 0; expert < m.experts->count; ++expert) {
        const std::string name = "block_sparse_moe.experts." + std::to_string(expert) + ".";
        b.gated_mlp(name + "w1", name + "w3", name + "w2", m.experts->ffn, ParameterKind::expert);
    }
}

Expected<void> read_deepseek(const Fields& config, ModelShape& model)
{
    LatentAttention latent;
    FOURFOLD_TRY(latent.q_rank, config.integer_or("q_lora_rank", 0, 1, kMostWidth));
    FOURFOLD_TRY(latent.kv_rank, config.integer("kv_lora_rank", 1, kMostWidth));
    FOURFOLD_TRY(latent.nope_head_dim, config.integer("qk_nope_head_dim", 1, config_keys::kMostHeadDim));
    FOURFOLD_TRY(latent.rope_head_dim, config.integer("qk_rope_head_dim", 1, config_keys::kMostHeadDim));
    FOURFOLD_TRY(latent.value_head_dim, config.integer("v_head_dim", 1, config_keys::kMostHeadDim));
    model.latent = latent;
    FOURFOLD_TRY(model.hidden, config.integer("hidden_size", 1, kMostWidth));
    FOURFOLD_TRY(model.layers, config.small_integer("num_hidden_layers", 1, config_keys::kMostLayers));
    FOURFOLD_TRY(model.heads, config.small_integer("num_attention_heads", 1, config_keys::kMostHeads));
    model.kv_heads = model.heads; // latent attention expands keys and values to every head
    model.head_dim = latent.nope_head_dim + latent.rope_head_dim;
    FOURFOLD_TRY(model.ffn, config.integer("intermediate_size", 1, kMostWidth));
    FOURFOLD_TRY(model.vocab, config.integer("vocab_size", 1, config_keys::kMostVocab));
    FOURFOLD_TRY(model.max_positions, config.integer_or("max_position_embeddings", 4096));
    FOURFOLD_TRY(model.norm_eps, config.positive_or("rms_norm_eps", 1e-6));
    FOURFOLD_CHECK(config_keys::check_activation(config, "hidden_act", {"silu", "swish"}));
    FOURFOLD_CHECK(config_keys::must_be_off(config, "attention_bias", "biases in latent attention"));
    FOURFOLD_CHECK(config_keys::read_rope(config, model));

    Experts experts;
    FOURFOLD_TRY(experts.count, config.small_integer("n_routed_experts", 1, kMostExperts));
    FOURFOLD_TRY(experts.active, config.small_integer("num_experts_per_tok", 1, kMostExperts));
    FOURFOLD_CHECK(check_active(config, experts, "n_routed_experts"));
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
    FOURFOLD_TRY(const int frequency, config.small_integer_or("moe_layer_freq", 1));
    if (frequency != 1)
        return config.wrong("moe_layer_freq", "1 (every layer after the dense ones has experts)");
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
}

void latent_attention(TableBuilder& b)
{
    const ModelShape& m = b.model;
    const LatentAttention& latent = *m.latent;
    constexpr auto kind = ParameterKind::attention;
    const int64_t queries = m.heads * m.head_dim;
    // The down projections are small and replicated; the up projections split by heads.
    if (latent.q_rank > 0) {
        b.linear("self_attn.q_a_proj", latent.q_rank, m.hidden, Split::none, kind, false);
        b.norm("self_attn.q_a_layernorm", latent.q_rank);
        b.linear("self_attn.q_b_proj", queries, latent.q_rank, Split::columns, kind, false);
    } else {
        b.linear("self_attn.q_proj", queries, m.hidden, Split::columns, kind, false);
    }
    b.linear("self_attn.kv_a_proj_with_mqa", latent.kv_rank + latent.rope_head_dim, m.hidden, Split::none, kind, false);
    b.norm("self_attn.kv_a_layernorm", latent.kv_rank);
    b.linear("self_attn.kv_b_proj", m.heads * (latent.nope_head_dim + latent.value_head_dim), latent.kv_rank,
        Split::columns, kind, false);
    b.linear("self_attn.o_proj", m.hidden, m.heads * latent.value_head_dim, Split::rows, kind, false, true);
}

// The multi-token prediction module of the published checkpoint (num_nextn_predict_layers) is not part of the main
// model of 671 billion parameters and is left out.
void deepseek_layer(TableBuilder& b)
{
    const ModelShape& m = b.model;
    b.prefix = "model.layers." + std::to_string(b.layer) + ".";
    b.norm("input_layernorm", m.hidden);
    latent_attention(b);
    b.norm("post_attention_layernorm", m.hidden);
    if (!m.is_moe_layer(b.layer)) {
        b.gated_mlp("mlp.gate_proj", "mlp.up_proj", "mlp.down_proj", m.ffn, ParameterKind::mlp);
        return;
    }
    b.linear("mlp.gate", m.experts->count, m.hidden, Split::none, ParameterKind::router, false);
    b.vector("mlp.gate.e_score_correction_bias", m.experts->count, ParameterKind::bias);
    for (int expert = 0; expert < m.experts->count; ++expert) {
        const std::string name = "mlp.experts." + std::to_string(expert) + ".";
        b.gated_mlp(name + "gate_proj", name + "up_proj", name + "down_proj", m.experts->ffn, ParameterKind::expert);
    }
    if (m.experts->shared > 0) {
        // Shared experts are one MLP of their summed width.
        const std::string name = "mlp.shared_experts.";
        b.gated_mlp(name + "gate_proj", name + "up_proj", name + "down_proj", m.experts->shared * m.experts->ffn,
            ParameterKind::mlp);
    }
}
} // namespace

const Family kMixtral{
    "mixtral", read_mixtral, write_mixtral, llama_embedding, mixtral_layer, llama_final_norm, "lm_head.weight", false};
const Family kDeepseekV3{"deepseek_v3", read_deepseek, write_deepseek, llama_embedding, deepseek_layer,
    llama_final_norm, "lm_head.weight", false};

} // namespace fourfold
