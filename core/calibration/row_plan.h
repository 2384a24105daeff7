// SPDX-License-Identifier: GPL-3.0-or-later
// From the cells of a measured row to the plan that its source ran.
#pragma once

#include "core/calibration/row_cells.h"
#include "core/plan/plan.h"
#include "core/plan/presets.h"

#include <optional>

namespace fourfold {

// Empty where a cell stands in the way; `cells` then holds the problems. `source` may be null where the row names stack
// and cluster itself.
std::optional<ResolvedPlan> plan_of_row(RowCells& cells, const TableSource* source, const Presets& presets);

// The release of its software, without a "v" before it: as the row prints it, or the name of its table where the
// source's tables are releases. Empty where the source does not say.
std::string release_of_row(const RowCells& cells, const TableSource* source);

// What the row says of how it trained, by the keys of a plan's `training`; `cells` notes the problems.
Json training_of_row(RowCells& cells);

} // namespace fourfold
