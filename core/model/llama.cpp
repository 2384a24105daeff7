// SPDX-License-Identifier: GPL-3.0-or-later
// Llama and the families that share its layer: Mistral, Qwen2 (biases on q, k, v).
#include "core/model/blocks.h"
#include "core/model/family.h"

namespace fourfold {

namespace {
Expected<void> read_llama(const Fields& config, ModelShape& model)
{
    FOURFOLD_CHECK(config_keys::read_common(config, model));
    FOURFOLD_CHECK(config_keys::must_be_off(config, "attention_bias", "biases on all four attention projections"));
    FOURFOLD_CHECK(config_keys::must_be_off(config, "mlp_bias", "biases in the MLP"));
    return config_keys::read_rope(config, model);
}

// Every layer sees the nearest tokens alone where there is a window; published ones of today have none.
Expected<void> read_mistral(const Fields& config, ModelShape& model)
{
    FOURFOLD_CHECK(read_llama(config, model));
    return config_keys::read_window(config, model);
}

Expected<void> read_qwen2(const Fields& config, ModelShape& model)
{
    model.qkv_bias = true;
    FOURFOLD_CHECK(config_keys::read_common(config, model));
    FOURFOLD_CHECK(config_keys::must_be_off(config, "use_sliding_window", "windows in Qwen2's attention"));
    return config_keys::read_rope(config, model);
}

void write_llama(const ModelShape& model, Json& config)
{
    config_keys::write_common(model, config);
    config_keys::write_rope(model, config);
}

void write_mistral(const ModelShape& model, Json& config)
{
    write_llama(model, config);
    config_keys::write_window(model, config);
}

void llama_layer(Rows& rows, const ModelShape& m, bool /*experts*/)
{
    rows.emplace_back(NormRow{Role::attention_norm, "input_layernorm", m.hidden});
    add_grouped_attention(rows, m, kLlamaAttention);
    rows.emplace_back(NormRow{Role::mlp_norm, "post_attention_layernorm", m.hidden});
    add_mlp(rows, m, kLlamaMlp);
}

} // namespace

const Family kLlama{"llama", read_llama, write_llama, llama_layer, kLlamaNames, false, true, false, "LlamaForCausalLM"};
const Family kMistral{
    "mistral", read_mistral, write_mistral, llama_layer, kLlamaNames, false, true, false, "MistralForCausalLM"};
const Family kQwen2{"qwen2", read_qwen2, write_llama, llama_layer, kLlamaNames, false, true, false, "Qwen2ForCausalLM"};

} // namespace fourfold
