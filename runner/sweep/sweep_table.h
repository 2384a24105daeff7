// SPDX-License-Identifier: GPL-3.0-or-later
// A measured sweep as tables, for every front end.
#pragma once

#include "core/report/table/table.h"
#include "runner/sweep/measured_sweep.h"

namespace fourfold {

// Layouts x GPU counts: TPS/GPU, or what became of the cell in capitals ("OOM", "HANG"); "-" where the layout is
// impossible or predicted not to fit.
Table sweep_table(const SweepTable& sweep);
// One row per cell, with predicted and measured figures, run and reason: for programs.
Table sweep_cells(const SweepTable& sweep);

} // namespace fourfold
