// SPDX-License-Identifier: GPL-3.0-or-later
// A grid of layouts as a table, alone or beside measurements.
#pragma once

#include "core/calibration/measured_grid.h"
#include "core/report/table/table.h"

namespace fourfold {

// Layouts x numbers of GPUs; "-" (empty in CSV) where a cell does not fit or cannot be placed. With `measured`, people
// read "447 / 455 (-2 %)", predicted / measured; CSV has columns for both.
Table grid_table(const LayoutGrid& grid, GridValue value, const MeasuredGrid* measured, TableFormat format);
// One line about a grid beside measurements.
std::string agreement_text(const LayoutGrid& grid, const MeasuredGrid& measured, GridValue value);
// Every cell with its figures, and why it does not run.
Json grid_json(const LayoutGrid& grid, GridValue value, const MeasuredGrid* measured);

} // namespace fourfold
