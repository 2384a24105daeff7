// SPDX-License-Identifier: GPL-3.0-or-later
// Rows to calibrate on: runs of the history, rows of measured tables.
#pragma once

#include "core/calibration/fit/fit.h"
#include "core/calibration/measured_table.h"
#include "core/history/store.h"

#include <string>
#include <vector>

namespace fourfold {

struct MeasuredRows {
    std::vector<FitRow> rows;
    std::vector<std::string> skipped; // one line each: what was left out and why
};

// Runs of the store whose software is `stack` and that ended with measured steps, or out of memory. `runs`: ids (or
// their unique beginnings); empty: all.
Expected<MeasuredRows> history_rows(
    const HistoryStore& store, const std::string& stack, const std::vector<std::string>& runs);

// Rows of a table that ran or ran out of memory; exceptions (`anomaly`) are left out.
MeasuredRows table_rows(const MeasuredTable& table);

} // namespace fourfold
