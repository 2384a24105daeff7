// SPDX-License-Identifier: GPL-3.0-or-later
// Qwen3 (arXiv:2505.09388, section 2): Llama's layer with a norm of every query and key head; the second with experts,
// none of them shared.
#include "core/model/blocks.h"
#include "core/model/family.h"

namespace fourfold {

namespace {
Expected<void> read_qwen3(const Fields& config, ModelShape& model)
{
    model.query_key_norm = true;
    FOURFOLD_CHECK(config_keys::read_common(config, model));
    FOURFOLD_CHECK(config_keys::must_be_off(config, "attention_bias", "biases on all four attention projections"));
    FOURFOLD_CHECK(config_keys::must_be_off(config, "use_sliding_window", "windows in Qwen3's attention"));
    return config_keys::read_rope(config, model);
}

Expected<void> read_qwen3_moe(const Fields& config, ModelShape& model)
{
    FOURFOLD_CHECK(read_qwen3(config, model));
    Experts experts;
    FOURFOLD_CHECK(config_keys::read_routing(config, "num_experts", experts));
    FOURFOLD_TRY(experts.ffn, config.integer("moe_intermediate_size", 1, config_keys::kMostWidth));
    FOURFOLD_TRY(experts.every, config.small_integer_or("decoder_sparse_step", 1, 1, config_keys::kMostLayers));
    if (config.has("mlp_only_layers") && config.json()["mlp_only_layers"] != Json::array())
        return Problem{ProblemCode::unsupported, "layers without experts are not supported, expected an empty list", {},
            config.where("mlp_only_layers")};
    FOURFOLD_TRY(experts.normalised, config.boolean_or("norm_topk_prob", false));
    FOURFOLD_CHECK(config_keys::read_balance(config, "router_aux_loss_coef", experts));
    model.experts = experts;
    return {};
}

void write_qwen3(const ModelShape& model, Json& config)
{
    config_keys::write_common(model, config);
    config_keys::write_rope(model, config);
}

void write_qwen3_moe(const ModelShape& model, Json& config)
{
    write_qwen3(model, config);
    config["num_experts"] = model.experts->count;
    config["num_experts_per_tok"] = model.experts->active;
    config["moe_intermediate_size"] = model.experts->ffn;
    config["decoder_sparse_step"] = model.experts->every;
    if (model.experts->normalised)
        config["norm_topk_prob"] = true;
    if (model.experts->balance > 0)
        config["router_aux_loss_coef"] = model.experts->balance;
}

void qwen3_layer(Rows& rows, const ModelShape& m, bool experts)
{
    rows.emplace_back(NormRow{Role::attention_norm, "input_layernorm", m.hidden});
    add_grouped_attention(rows, m, kLlamaAttention);
    rows.emplace_back(NormRow{Role::mlp_norm, "post_attention_layernorm", m.hidden});
    if (experts)
        add_experts(rows, m, {.router = "mlp.gate", .each = kLlamaExpert});
    else
        add_mlp(rows, m, kLlamaMlp);
}
} // namespace

const Family kQwen3{"qwen3", read_qwen3, write_qwen3, qwen3_layer, kLlamaNames, false, true, false, "Qwen3ForCausalLM"};
const Family kQwen3Moe{
    "qwen3_moe", read_qwen3_moe, write_qwen3_moe, qwen3_layer, kLlamaNames, false, true, false, "Qwen3MoeForCausalLM"};

} // namespace fourfold
