// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/blocks.h"

namespace fourfold {

void add_fused_attention(Rows& rows, const ModelShape& m, const FusedNames& names)
{
    const int64_t width = m.heads * m.head_dim;
    rows.emplace_back(MatrixRow{.role = Role::fused,
        .name = names.fused,
        .out = 3 * width,
        .in = m.hidden,
        .split = Split::columns,
        .bias = true,
        .product = "qkv projection"});
    rows.emplace_back(AttentionRow{m.heads, m.heads, width, width, width, width});
    rows.emplace_back(MatrixRow{.role = Role::output,
        .name = names.output,
        .out = m.hidden,
        .in = width,
        .split = Split::rows,
        .bias = true,
        .product = "attention output projection"});
}

} // namespace fourfold
