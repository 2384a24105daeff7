// SPDX-License-Identifier: GPL-3.0-or-later
// Layouts x numbers of GPUs as a heat map.
#pragma once

#include "core/calibration/measured_grid.h"
#include "core/report/chart.h"

namespace fourfold::view {

// "Tokens/s per GPU".
const char* grid_value_label(GridValue value);

// The texts of grid_table(); the more of the figure, the stronger the colour. Cells that do not run have none.
TileChart grid_chart(const LayoutGrid& grid, GridValue value, const MeasuredGrid* measured);

} // namespace fourfold::view
