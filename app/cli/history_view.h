// SPDX-License-Identifier: GPL-3.0-or-later
// What the `history` subcommands share: opening the store and the forms in which a run is shown.
#pragma once

#include "app/cli/command.h"
#include "app/cli/plan_source.h"
#include "core/history/store.h"

#include <string>
#include <vector>

namespace fourfold::cli {

// The user's history for reading, migrated when it is of an older program; empty when no run was ever stored.
Expected<std::optional<HistoryStore>> open_history();
// The same where a run is needed: an empty history is a not_found problem.
Expected<HistoryStore> open_history_with_runs();

// Every column of a run's row, for lists and exports.
Table runs_table(const std::vector<RunSummary>& runs);
// The object of one run in `list --json`: the columns of runs_table.
Json summary_json(const RunSummary& run);

// Predicted beside measured: throughput, step time, memory and their error.
Table comparison_table(const RunSummary& run);
std::string run_text(const RunDetail& run);
Json run_json(const RunDetail& run);

int list_runs(TableFormat format, int limit);
int show_run(TableFormat format, const std::string& id);
int compare_runs(TableFormat format, const std::vector<std::string>& ids);
int export_runs(TableFormat format, const std::vector<std::string>& ids, const std::string& output);
int import_runs(const std::string& file, const PlanOptions& plan, bool json);

} // namespace fourfold::cli
