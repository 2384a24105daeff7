// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/weight_names.h"

namespace fourfold::trainer {

namespace {
WeightNames llama()
{
    WeightNames names;
    names.embedding = "model.embed_tokens";
    names.layer = "model.layers.";
    names.attention_norm = "input_layernorm";
    names.query = "self_attn.q_proj";
    names.key = "self_attn.k_proj";
    names.value = "self_attn.v_proj";
    names.output = "self_attn.o_proj";
    names.mlp_norm = "post_attention_layernorm";
    names.gate = "mlp.gate_proj";
    names.up = "mlp.up_proj";
    names.down = "mlp.down_proj";
    names.final_norm = "model.norm";
    names.head = "lm_head";
    return names;
}

WeightNames gpt2()
{
    WeightNames names;
    names.embedding = "transformer.wte";
    names.position_embedding = "transformer.wpe";
    names.layer = "transformer.h.";
    names.attention_norm = "ln_1";
    names.fused = "attn.c_attn";
    names.output = "attn.c_proj";
    names.mlp_norm = "ln_2";
    names.up = "mlp.c_fc";
    names.down = "mlp.c_proj";
    names.final_norm = "transformer.ln_f";
    names.head = "lm_head";
    return names;
}

WeightNames bloom()
{
    WeightNames names;
    names.embedding = "transformer.word_embeddings";
    names.embedding_norm = "transformer.word_embeddings_layernorm";
    names.layer = "transformer.h.";
    names.attention_norm = "input_layernorm";
    names.fused = "self_attention.query_key_value";
    names.output = "self_attention.dense";
    names.mlp_norm = "post_attention_layernorm";
    names.up = "mlp.dense_h_to_4h";
    names.down = "mlp.dense_4h_to_h";
    names.final_norm = "transformer.ln_f";
    names.head = "lm_head";
    return names;
}
} // namespace

WeightNames weight_names(const ModelShape& model)
{
    if (model.model_type == "gpt2")
        return gpt2();
    if (model.model_type == "bloom")
        return bloom();
    return llama();
}

} // namespace fourfold::trainer
