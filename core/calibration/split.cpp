// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/split.h"
#include "core/base/sha256.h"
#include "core/calibration/measured_table.h"

namespace fourfold {

namespace {
// "t12:48 node contenders" and "t13:48 node contenders" stand under one heading.
std::string heading(const std::string& table)
{
    const auto colon = table.find(':');
    return colon == std::string::npos || colon + 1 == table.size() ? table : table.substr(colon + 1);
}

std::string half(const std::string& group)
{
    const char digit = sha256_hex(group)[1]; // the low four bits of the first byte
    const int value = digit <= '9' ? digit - '0' : digit - 'a' + 10;
    return value % 2 == 0 ? "half 0" : "half 1";
}
} // namespace

std::string group_key(const MeasuredRow& row, RowSplit split)
{
    const Layout& layout = row.plan.layout;
    switch (split) {
    case RowSplit::section:
        return heading(row.table);
    case RowSplit::block:
        return "tp " + std::to_string(layout.tp) + " cp " + std::to_string(layout.cp) + " pp "
            + std::to_string(layout.pp);
    case RowSplit::model:
        return "h " + std::to_string(row.plan.model.hidden) + " L " + std::to_string(row.plan.model.layers);
    case RowSplit::source:
        return row.source;
    case RowSplit::generation:
        return row.plan.cluster.gpu.generation.empty() ? row.plan.cluster.gpu.id : row.plan.cluster.gpu.generation;
    case RowSplit::halves:
        return half(row.table);
    case RowSplit::table:
        break;
    }
    return row.table;
}

} // namespace fourfold
