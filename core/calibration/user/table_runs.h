// SPDX-License-Identifier: GPL-3.0-or-later
// Measurements of other software as runs of the history: the rows of a measured table.
#pragma once

#include "core/base/json.h"
#include "core/history/store.h"
#include "core/plan/plan.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace fourfold {

// The target of runs that were read from a table or from another program's log.
inline constexpr const char* kImportedTarget = "imported";

// The document that import_run() takes, of a run that was measured elsewhere. The id follows from
// `identity`, so that the same measurement is not taken twice. `events` as in events.jsonl, with seq from 0.
Json measured_run(const ResolvedPlan& plan, const std::string& identity, const std::string& name,
    const std::string& state, const std::string& problem, const std::vector<Json>& events);

// Run documents of the rows of a measured table (CSV as in presets/published) that ran or crashed; `remarks` gets what
// is wrong with others. Fails where no row can be taken.
Expected<std::vector<Json>> runs_of_table(
    std::string_view text, const std::string& file, std::vector<std::string>& remarks);

// Of a document that import_run() found to be known: whether the history's run was measured as it says. A corrected
// table has the same rows.
bool same_figures(const HistoryStore& store, const Json& run);
// What to say and do where it was not.
std::string other_figures(const Json& run);

} // namespace fourfold
