// SPDX-License-Identifier: GPL-3.0-or-later
// Stored runs as a table: a row a run, for lists and exports.
#pragma once

#include "core/history/store.h"
#include "core/report/table/table.h"

namespace fourfold {

Table runs_table(const std::vector<RunSummary>& runs);

} // namespace fourfold
