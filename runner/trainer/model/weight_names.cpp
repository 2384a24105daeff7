// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/weight_names.h"

namespace fourfold::trainer {

namespace {
const WeightNames kLlama{.embedding = "model.embed_tokens",
    .layer = "model.layers.",
    .attention_norm = "input_layernorm",
    .query = "self_attn.q_proj",
    .key = "self_attn.k_proj",
    .value = "self_attn.v_proj",
    .output = "self_attn.o_proj",
    .mlp_norm = "post_attention_layernorm",
    .gate = "mlp.gate_proj",
    .up = "mlp.up_proj",
    .down = "mlp.down_proj",
    .final_norm = "model.norm",
    .head = "lm_head"};

const WeightNames kGpt2{.embedding = "transformer.wte",
    .position_embedding = "transformer.wpe",
    .layer = "transformer.h.",
    .attention_norm = "ln_1",
    .fused = "attn.c_attn",
    .output = "attn.c_proj",
    .mlp_norm = "ln_2",
    .up = "mlp.c_fc",
    .down = "mlp.c_proj",
    .final_norm = "transformer.ln_f",
    .head = "lm_head"};

const WeightNames kBloom{.embedding = "transformer.word_embeddings",
    .embedding_norm = "transformer.word_embeddings_layernorm",
    .layer = "transformer.h.",
    .attention_norm = "input_layernorm",
    .fused = "self_attention.query_key_value",
    .output = "self_attention.dense",
    .mlp_norm = "post_attention_layernorm",
    .up = "mlp.dense_h_to_4h",
    .down = "mlp.dense_4h_to_h",
    .final_norm = "transformer.ln_f",
    .head = "lm_head"};
} // namespace

const WeightNames& weight_names(const ModelShape& model)
{
    if (model.model_type == "gpt2")
        return kGpt2;
    return model.model_type == "bloom" ? kBloom : kLlama;
}

} // namespace fourfold::trainer
