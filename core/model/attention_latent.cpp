// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/blocks.h"

namespace fourfold {

// The down projections are small and replicated; the up projections split by heads, and keys and values have all heads.
void add_latent_attention(Rows& rows, const ModelShape& m)
{
    const LatentAttention& latent = *m.latent;
    const int64_t queries = m.heads * m.head_dim, values = m.heads * latent.value_head_dim;
    const auto add
        = [&](std::string_view name, int64_t out, int64_t in, Split split, std::string_view product, Role role) {
              rows.emplace_back(MatrixRow{role, name, out, in, split, product});
          };
    if (latent.q_rank > 0) {
        add("self_attn.q_a_proj", latent.q_rank, m.hidden, Split::none, "query down projection", Role::query_down);
        rows.emplace_back(NormRow{Role::query_latent_norm, "self_attn.q_a_layernorm", latent.q_rank});
        add("self_attn.q_b_proj", queries, latent.q_rank, Split::columns, "query up projection", Role::query_up);
    } else {
        add("self_attn.q_proj", queries, m.hidden, Split::columns, "query projection", Role::query);
    }
    add("self_attn.kv_a_proj_with_mqa", latent.kv_rank + latent.rope_head_dim, m.hidden, Split::none,
        "key-value down projection", Role::kv_down);
    rows.emplace_back(NormRow{Role::kv_latent_norm, "self_attn.kv_a_layernorm", latent.kv_rank});
    add("self_attn.kv_b_proj", m.heads * (latent.nope_head_dim + latent.value_head_dim), latent.kv_rank, Split::columns,
        "key-value up projection", Role::kv_up);
    rows.emplace_back(AttentionRow{m.heads, m.heads, queries, queries, values, values});
    add("self_attn.o_proj", m.hidden, values, Split::rows, "attention output projection", Role::output);
}

} // namespace fourfold
