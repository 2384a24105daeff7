// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/blocks.h"

namespace fourfold {

void add_grouped_attention(Rows& rows, const ModelShape& m, const GroupedNames& names)
{
    const int64_t queries = m.heads * m.head_dim, keys = m.kv_heads * m.head_dim;
    MatrixRow in{.in = m.hidden, .split = Split::columns, .bias = m.qkv_bias, .product = "qkv projection"};
    const auto add = [&](Role role, std::string_view name, int64_t out) {
        in.role = role;
        in.name = name;
        in.out = out;
        rows.emplace_back(in);
    };
    add(Role::query, names.query, queries);
    in.key_heads = true;
    add(Role::key, names.key, keys);
    add(Role::value, names.value, keys);
    rows.emplace_back(AttentionRow{m.heads, m.kv_heads, queries, keys, keys, queries});
    rows.emplace_back(MatrixRow{.role = Role::output,
        .name = names.output,
        .out = m.hidden,
        .in = queries,
        .split = Split::rows,
        .product = "attention output projection"});
}

} // namespace fourfold
