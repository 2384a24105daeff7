// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/trainable_families.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>

namespace fourfold {

namespace {
const WeightNames kLlamaNames{.embedding = "model.embed_tokens",
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

const WeightNames kGpt2Names{.embedding = "transformer.wte",
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

const WeightNames kBloomNames{.embedding = "transformer.word_embeddings",
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

const std::array<TrainableFamily, 5>& trainable_families()
{
    static const std::array<TrainableFamily, 5> kRows{{
        {"llama", kLlamaNames},
        {"mistral", kLlamaNames},
        {"qwen2", kLlamaNames},
        {"gpt2", kGpt2Names, true},
        {"bloom", kBloomNames},
    }};
    return kRows;
}
} // namespace

Expected<const TrainableFamily*> find_trainable_family(const ModelShape& model)
{
    const auto& rows = trainable_families();
    const auto row = std::ranges::find(rows, model.model_type, &TrainableFamily::model_type);
    if (row != rows.end())
        return &*row;
    return Problem{ProblemCode::unsupported,
        "fourfold-trainer does not run models of the family " + in_quotes(model.model_type) + " yet", "",
        "model.model_type"};
}

const TrainableFamily& trainable_family(const ModelShape& model)
{
    return **find_trainable_family(model);
}

} // namespace fourfold
