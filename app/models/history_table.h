// SPDX-License-Identifier: GPL-3.0-or-later
// Stored runs as a table of the report room, with the columns that identify a run first: what the History page exports.
#pragma once

#include "core/history/store.h"
#include "core/report/table/table.h"

#include <vector>

namespace fourfold::ui {

Table historyTable(const std::vector<RunSummary>& runs);

} // namespace fourfold::ui
