// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/blocks.h"

namespace fourfold {

void add_grouped_attention(Rows& rows, const ModelShape& m, const GroupedNames& names)
{
    const int64_t queries = m.heads * m.head_dim, keys = m.kv_heads * m.head_dim;
    const auto add = [&](Role role, std::string_view name, int64_t out, bool key_heads) {
        rows.emplace_back(MatrixRow{role, name, out, m.hidden, Split::columns, "qkv projection",
            ParameterKind::attention, m.qkv_bias, key_heads});
    };
    add(Role::query, names.query, queries, false);
    add(Role::key, names.key, keys, true);
    add(Role::value, names.value, keys, true);
    if (m.query_key_norm) {
        const int64_t width = names.weightless_norms ? 0 : m.head_dim;
        rows.emplace_back(NormRow{Role::query_norm, names.query_norm, width});
        rows.emplace_back(NormRow{Role::key_norm, names.key_norm, width});
    }
    if (!names.sinks.empty())
        rows.emplace_back(VectorRow{Role::sinks, names.sinks, m.heads, true});
    rows.emplace_back(AttentionRow{m.heads, m.kv_heads, queries, keys, keys, queries, m.windowed_share()});
    rows.emplace_back(MatrixRow{Role::output, names.output, m.hidden, queries, Split::rows,
        "attention output projection", ParameterKind::attention, m.linear_bias});
}

void add_fused_attention(Rows& rows, const ModelShape& m, const FusedNames& names)
{
    const int64_t width = m.heads * m.head_dim;
    rows.emplace_back(MatrixRow{Role::fused, names.fused, 3 * width, m.hidden, Split::columns, "qkv projection",
        ParameterKind::attention, m.linear_bias});
    rows.emplace_back(AttentionRow{m.heads, m.heads, width, width, width, width});
    rows.emplace_back(MatrixRow{Role::output, names.output, m.hidden, width, Split::rows, "attention output projection",
        ParameterKind::attention, m.linear_bias});
}

} // namespace fourfold
