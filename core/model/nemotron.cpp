// SPDX-License-Identifier: GPL-3.0-or-later
// Nemotron-4 (arXiv:2402.16819, section 2; arXiv:2406.11704, section 2.2): grouped queries, squared ReLU without a
// gate, LayerNorm, no biases in products.
#include "core/model/blocks.h"
#include "core/model/family.h"

namespace fourfold {

namespace {
Expected<void> read_nemotron(const Fields& config, ModelShape& model)
{
    model.activation = Activation::squared_relu;
    model.norm = Norm::layer;
    FOURFOLD_CHECK(config_keys::read_widths(config, model));
    FOURFOLD_CHECK(config_keys::check_activation(config, "hidden_act", {"relu2"}));
    FOURFOLD_TRY(model.norm_eps, config.positive_or("norm_eps", 1e-5));
    FOURFOLD_CHECK(config_keys::must_be_off(config, "attention_bias", "biases on all four attention projections"));
    FOURFOLD_CHECK(config_keys::must_be_off(config, "mlp_bias", "biases in the MLP"));
    return config_keys::read_rope(config, model);
}

void write_nemotron(const ModelShape& model, Json& config)
{
    config_keys::write_common(model, config);
    config.erase("rms_norm_eps");
    config["hidden_act"] = "relu2";
    config["norm_eps"] = model.norm_eps;
    config_keys::write_rope(model, config);
}

void nemotron_layer(Rows& rows, const ModelShape& m, bool /*experts*/)
{
    rows.emplace_back(NormRow{Role::attention_norm, "input_layernorm", m.hidden});
    add_grouped_attention(rows, m, kLlamaAttention);
    rows.emplace_back(NormRow{Role::mlp_norm, "post_attention_layernorm", m.hidden});
    add_mlp(rows, m, {.up = "mlp.up_proj", .down = "mlp.down_proj"});
}
} // namespace

const Family kNemotron{"nemotron", read_nemotron, write_nemotron, nemotron_layer, kLlamaNames};

} // namespace fourfold
