// SPDX-License-Identifier: GPL-3.0-or-later
// Llama and the families that share its layer: Mistral, Qwen2 (biases on q, k, v).
#include "core/model/family.h"

namespace fourfold {

namespace {
using Split = TableBuilder::Split;

Expected<void> read_llama(const Fields& config, ModelShape& model)
{
    FOURFOLD_CHECK(config_keys::read_common(config, model));
    FOURFOLD_CHECK(config_keys::must_be_off(config, "attention_bias", "biases on all four attention projections"));
    FOURFOLD_CHECK(config_keys::must_be_off(config, "mlp_bias", "biases in the MLP"));
    return config_keys::read_rope(config, model);
}

Expected<void> read_qwen2(const Fields& config, ModelShape& model)
{
    model.qkv_bias = true;
    FOURFOLD_CHECK(config_keys::read_common(config, model));
    return config_keys::read_rope(config, model);
}

void write_llama(const ModelShape& model, Json& config)
{
    config_keys::write_common(model, config);
    config_keys::write_rope(model, config);
}

void layer(TableBuilder& b)
{
    const ModelShape& m = b.model;
    const int64_t queries = m.heads * m.head_dim, keys = m.kv_heads * m.head_dim;
    b.prefix = "model.layers." + std::to_string(b.layer) + ".";
    b.norm("input_layernorm", m.hidden);
    b.linear("self_attn.q_proj", queries, m.hidden, Split::columns, ParameterKind::attention, m.qkv_bias);
    b.linear("self_attn.k_proj", keys, m.hidden, Split::columns, ParameterKind::attention, m.qkv_bias);
    b.linear("self_attn.v_proj", keys, m.hidden, Split::columns, ParameterKind::attention, m.qkv_bias);
    b.linear("self_attn.o_proj", m.hidden, queries, Split::rows, ParameterKind::attention, false, true);
    b.norm("post_attention_layernorm", m.hidden);
    b.gated_mlp("mlp.gate_proj", "mlp.up_proj", "mlp.down_proj", m.ffn, ParameterKind::mlp);
}

} // namespace

void llama_embedding(TableBuilder& b)
{
    b.embedding("model.embed_tokens.weight");
}

void llama_final_norm(TableBuilder& b)
{
    b.norm("model.norm", b.model.hidden);
}

// Mistral's sliding window changes neither parameters nor the FLOPs of sequences inside it; it is not modelled.
const Family kLlama{
    "llama", read_llama, write_llama, llama_embedding, layer, llama_final_norm, "lm_head.weight", false};
const Family kMistral{
    "mistral", read_llama, write_llama, llama_embedding, layer, llama_final_norm, "lm_head.weight", false};
const Family kQwen2{
    "qwen2", read_qwen2, write_llama, llama_embedding, layer, llama_final_norm, "lm_head.weight", false};

} // namespace fourfold
