// SPDX-License-Identifier: GPL-3.0-or-later
// Closed forms of the sums over the parameter table: a search asks for them thousands of times a second. Tests hold
// them equal to the table.
#include "core/model/model_shape.h"

namespace fourfold {

namespace {
struct Count {
    double weights = 0; // of matrix products
    double vectors = 0; // norms and biases
};

double norm_vectors(const ModelShape& m)
{
    return m.norm == Norm::layer ? 2.0 : 1.0;
}

Count attention(const ModelShape& m)
{
    const double h = double(m.hidden);
    if (m.latent) {
        const LatentAttention& latent = *m.latent;
        const double queries = double(m.heads) * double(m.head_dim), q = double(latent.q_rank),
                     kv = double(latent.kv_rank);
        Count count;
        count.weights = (q > 0 ? q * (h + queries) : h * queries) + h * (kv + double(latent.rope_head_dim))
            + kv * m.heads * double(latent.nope_head_dim + latent.value_head_dim)
            + h * m.heads * double(latent.value_head_dim);
        count.vectors = norm_vectors(m) * (q + kv);
        return count;
    }
    const double queries = double(m.heads) * double(m.head_dim), keys = double(m.kv_heads) * double(m.head_dim);
    const double bias = m.qkv_bias || m.linear_bias ? queries + 2 * keys : 0;
    return {2 * h * queries + 2 * h * keys, bias + (m.linear_bias ? h : 0)};
}

Count dense_mlp(const ModelShape& m)
{
    const double h = double(m.hidden), ffn = double(m.ffn);
    return {(m.gated() ? 3 : 2) * h * ffn, m.linear_bias ? h + ffn : 0};
}

// `routed`: experts counted, all or the active ones.
Count expert_mlp(const ModelShape& m, int routed)
{
    const Experts& experts = *m.experts;
    const double h = double(m.hidden);
    Count count;
    count.weights = h * experts.count + 3.0 * h * double(experts.ffn) * (routed + experts.shared);
    count.vectors = m.latent ? experts.count : 0; // DeepSeek-V3's routing bias
    return count;
}

Count all_layers(const ModelShape& m, bool active_only)
{
    const Count a = attention(m), dense = dense_mlp(m);
    Count total;
    const int moe_layers = m.experts ? m.layers - m.experts->dense_layers : 0;
    const int dense_layers = m.layers - moe_layers;
    total.weights = m.layers * a.weights + dense_layers * dense.weights;
    total.vectors = m.layers * (a.vectors + 2 * norm_vectors(m) * double(m.hidden)) + dense_layers * dense.vectors;
    if (moe_layers > 0) {
        const Count experts = expert_mlp(m, active_only ? m.experts->active : m.experts->count);
        total.weights += moe_layers * experts.weights;
        total.vectors += moe_layers * experts.vectors;
    }
    return total;
}
} // namespace

double ModelShape::parameters() const
{
    const Count inside = all_layers(*this, false);
    const double h = double(hidden), table = double(vocab) * h;
    double total = inside.weights + inside.vectors + table * (tied_embeddings ? 1 : 2);
    total += norm_vectors(*this) * h * (embedding_norm ? 2 : 1);
    if (positions == Positions::learned)
        total += double(max_positions) * h;
    return total;
}

double ModelShape::active_matmul_parameters() const
{
    return all_layers(*this, true).weights + double(vocab) * double(hidden);
}

} // namespace fourfold
