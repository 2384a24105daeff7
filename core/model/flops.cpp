// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/flops.h"

#include "core/model/layer.h"

namespace fourfold {

namespace {
// Of all layers and modules: the width over which one token's query meets a key plus the width of a value, 2 * heads *
// head_dim or the two different widths of latent attention, times the keys that it meets; and what scans compute for a
// token.
struct Mixing {
    double scores = 0, scans = 0;
};
Mixing mixing(const ModelShape& m, double keys, double window_keys)
{
    Mixing sum;
    for_each_trained(m, [&](double layers, const Rows& rows) {
        for (const Row& row : rows) {
            if (const auto* attention = std::get_if<AttentionRow>(&row))
                sum.scores += layers * attention->share * double(attention->query + attention->output)
                    * ((1 - attention->windowed) * keys + attention->windowed * window_keys);
            if (const auto* scan = std::get_if<ScanRow>(&row))
                sum.scans += layers * scan->share * scan->flops();
        }
    });
    return sum;
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
    weights += double(padded_vocab) * double(m.hidden) + m.active_matmul_parameters_ahead();
    return 6 * weights + 6 * mixing(m, double(seq_len), double(seq_len)).scores;
}
} // namespace

double model_flops_per_token(const ModelShape& model, int64_t seq_len, bool causal)
{
    const double keys = double(seq_len);
    const Mixing mixed = mixing(model, keys, causal && model.window.tokens > 0 ? model.window_keys(keys) : keys);
    const double weights = model.active_matmul_parameters() + model.active_matmul_parameters_ahead();
    return 6 * weights + 6 * (causal ? mixed.scores / 2 : mixed.scores) + 3 * mixed.scans;
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
