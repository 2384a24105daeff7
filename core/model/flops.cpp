// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/flops.h"

#include "core/model/layer.h"

namespace fourfold {

namespace {
// Width over which one token's query meets a key, plus the width of a value: 2 * heads * head_dim, and the two
// different widths of latent attention.
double score_and_value_width(const ModelShape& m)
{
    const Rows rows = layer_rows(m, false);
    const AttentionRow* attention = find_row<AttentionRow>(rows);
    return attention == nullptr ? 0 : double(attention->query + attention->output);
}

// Megatron-LM's count written over weights: 6 FLOPs per weight of attention, MLP (active experts, no router) and
// padded head, and the full attention square. For multi-head attention this is the published
// 12 L h^2 (1 + kv/heads + s/h + ffn/h * (1.5 gated | 1) + V/(2 L h)).
double megatron_flops_per_token(const ModelShape& m, int64_t padded_vocab, int64_t seq_len)
{
    const double head = double(m.vocab) * double(m.hidden);
    double weights = m.active_matmul_parameters() - head;
    if (m.experts)
        weights -= double(m.moe_layers()) * m.experts->count * double(m.hidden);
    weights += double(padded_vocab) * double(m.hidden);
    return 6 * weights + 6 * m.layers * score_and_value_width(m) * double(seq_len);
}
} // namespace

double model_flops_per_token(const ModelShape& model, int64_t seq_len, bool causal)
{
    const double row = 6 * model.layers * score_and_value_width(model), keys = double(seq_len);
    const double windowed = model.windowed_share();
    const double attended = windowed > 0 ? (1 - windowed) * keys + windowed * model.window_keys(keys) : keys;
    return 6 * model.active_matmul_parameters() + (causal ? row * attended / 2 : row * keys);
}

double reported_flops_per_token(
    const ModelShape& model, int64_t padded_vocab, int64_t seq_len, FlopConvention convention)
{
    const double h = double(model.hidden), layers = model.layers;
    switch (convention) {
    case FlopConvention::megatron_lm:
        return megatron_flops_per_token(model, padded_vocab, seq_len);
    case FlopConvention::bloom_before_02_21:
        return 8 * 12 * layers * h * h;
    case FlopConvention::bloom_from_02_21:
        return 96 * layers * h * h * (1 + double(seq_len) / (6 * h) + double(padded_vocab) / (16 * layers * h));
    case FlopConvention::palm:
        break;
    }
    return model_flops_per_token(model, seq_len);
}

} // namespace fourfold
