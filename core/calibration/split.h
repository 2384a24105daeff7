// SPDX-License-Identifier: GPL-3.0-or-later
// Lines along which the rows of a table are set apart, so that a figure can be told for rows that the fit never saw.
// A split is always by group, never by single row: rows of one group share what makes them alike.
#pragma once

#include "core/base/words.h"

#include <string>

namespace fourfold {

struct MeasuredRow;

enum class RowSplit {
    table, // the `table` column
    section, // the table's heading without its number ("t12:48 node contenders" -> "48 node contenders")
    block, // (tp, cp, pp)
    model, // hidden size and layers
    source, // the `source` column, where several sources tell of one software
    generation, // of the GPU: what fits to other chips say of it
    halves, // two folds: the groups of `table` by the lowest bit of the first byte of the SHA-256 of their name
};

template <>
inline constexpr auto kWords<RowSplit> = std::to_array<std::string_view>(
    {"table", "section", "block", "model", "source", "generation", "halves"});

// The group of a row: rows with equal keys are left out together.
std::string group_key(const MeasuredRow& row, RowSplit split);
// Sorted keys over `rows` (each once).

} // namespace fourfold
