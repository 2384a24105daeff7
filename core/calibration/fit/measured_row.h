// SPDX-License-Identifier: GPL-3.0-or-later
// A row of a measured table as the fitter takes it.
#pragma once

#include "core/calibration/fit/fit.h"
#include "core/calibration/measured_table.h"

namespace fourfold {

// True for rows with a plan that say how a run went: it ran, or it ran out of memory.
inline bool tells_a_run(const MeasuredRow& row)
{
    return (row.status == CellStatus::ok || row.status == CellStatus::oom) && row.plan.gpus > 0;
}

inline FitRow fit_row_of(const MeasuredRow& row)
{
    FitRow fit;
    fit.plan = row.plan;
    fit.label = row.source + " " + row.row;
    fit.outcome = row.ran() ? Outcome::ran : Outcome::out_of_memory;
    fit.step_time_s = row.step_time_s;
    fit.memory_gib = row.memory_gib;
    return fit;
}

} // namespace fourfold
