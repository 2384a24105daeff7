// SPDX-License-Identifier: GPL-3.0-or-later
// Stored runs as a table: a row a run, for lists and exports.
#pragma once

#include "core/history/store.h"
#include "core/report/table/table.h"

namespace fourfold {

// "backward +0.092 s"; empty where nothing is known.
std::string most_off_text(const RunSummary& run);

Table runs_table(const std::vector<RunSummary>& runs);

} // namespace fourfold
