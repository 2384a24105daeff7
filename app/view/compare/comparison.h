// SPDX-License-Identifier: GPL-3.0-or-later
// Plans, found layouts and stored runs side by side, by the figures that all have.
#pragma once

#include "core/history/store.h"
#include "core/predict/prediction.h"
#include "core/report/table/table.h"

#include <optional>
#include <string>
#include <vector>

namespace fourfold::view {

// A row an entry, its name first: for files.
std::vector<Column> comparison_columns();
// `run`: what was measured; null for what was not run.
std::vector<Cell> comparison_row(
    const std::string& name, const std::string& kind, const Prediction& prediction, const RunSummary* run);

// What a person reads: a column an entry, a row a figure, marked where they differ. Figures that no entry has are left
// out; with `reference` (a row of `table`) numbers of the others have their difference to it behind them.
Table side_by_side(const Table& table, bool differences_only, std::optional<std::size_t> reference = {});

} // namespace fourfold::view
