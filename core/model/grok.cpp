// SPDX-License-Identifier: GPL-3.0-or-later
// Grok-1: eight experts with GELU gates, and a norm before and behind attention and MLP.
#include "core/model/blocks.h"
#include "core/model/family.h"

namespace fourfold {

namespace {
Expected<void> read_grok(const Fields& config, ModelShape& model)
{
    model.activation = Activation::geglu;
    FOURFOLD_CHECK(config_keys::read_widths(config, model));
    FOURFOLD_CHECK(config_keys::check_activation(config, "hidden_act", {"gelu"}));
    FOURFOLD_CHECK(config_keys::read_rope(config, model));
    Experts experts;
    FOURFOLD_CHECK(config_keys::read_routing(config, "num_experts", experts));
    experts.ffn = model.ffn;
    model.experts = experts;
    return {};
}

void write_grok(const ModelShape& model, Json& config)
{
    config_keys::write_common(model, config);
    config["hidden_act"] = "gelu";
    config_keys::write_rope(model, config);
    config["num_experts"] = model.experts->count;
    config["num_experts_per_tok"] = model.experts->active;
}

constexpr GroupedNames kGrokAttention{"attn.q_proj", "attn.k_proj", "attn.v_proj", "attn.o_proj"};
constexpr MlpNames kGrokExpert{
    "moe_block.experts.*.linear", "moe_block.experts.*.linear_v", "moe_block.experts.*.linear_1"};

void grok_layer(Rows& rows, const ModelShape& m, bool /*experts*/)
{
    rows.emplace_back(NormRow{Role::attention_norm, "pre_attn_norm", m.hidden});
    add_grouped_attention(rows, m, kGrokAttention);
    rows.emplace_back(NormRow{Role::attention_post_norm, "post_attn_norm", m.hidden});
    rows.emplace_back(NormRow{Role::mlp_norm, "pre_moe_norm", m.hidden});
    add_experts(rows, m, {.router = "moe_block.gate", .each = kGrokExpert});
    rows.emplace_back(NormRow{Role::mlp_post_norm, "post_moe_norm", m.hidden});
}
} // namespace

const Family kGrok{"grok-1", read_grok, write_grok, grok_layer, kLlamaNames, true};

} // namespace fourfold
