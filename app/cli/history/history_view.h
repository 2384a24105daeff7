// SPDX-License-Identifier: GPL-3.0-or-later
// What the `history` subcommands share: opening the store and the forms in which a run is shown.
#pragma once

#include "app/cli/command.h"
#include "app/cli/planning/plan_source.h"
#include "app/cli/runs/dashboards.h"
#include "core/history/store.h"
#include "core/report/views/runs_table.h"

#include <string>
#include <vector>

namespace fourfold::cli {

// The user's history for reading, migrated when it is of an older program; empty when no run was ever stored.
Expected<std::optional<HistoryStore>> open_history();
// The same where a run is needed: an empty history is a not_found problem.
Expected<HistoryStore> open_history_with_runs();

// The newest runs; traces that were not compared with their prediction yet are, so that the term most off is there.
Expected<std::vector<RunSummary>> listed_runs(const HistoryStore& store, int limit);

// The object of one run in `list --json`: the columns of runs_table.
Json summary_json(const RunSummary& run);

// Predicted beside measured: throughput, step time, memory and their error.
Table comparison_table(const RunSummary& run);
std::string run_text(const RunDetail& run);
Json run_json(const RunDetail& run);

// `filter` as in filtered_runs().
Expected<int> list_runs(TableFormat format, int limit, const std::string& filter);
Expected<int> show_run(TableFormat format, const std::string& id);
Expected<int> compare_runs(TableFormat format, const std::vector<std::string>& ids);
Expected<int> export_runs(TableFormat format, const std::vector<std::string>& ids, const std::string& output);
// For the dashboards that are asked for, one at least.
Expected<int> export_to_dashboards(const DashboardOptions& options, std::vector<std::string> ids);
// What a person does to runs; `ids` as in HistoryStore::full_id().
int tag_runs(
    const std::vector<std::string>& ids, const std::vector<std::string>& add, const std::vector<std::string>& remove);
int note_run(const std::string& id, const std::string& note);
int delete_runs(const std::vector<std::string>& ids);
int restore_runs(const std::vector<std::string>& ids);
int list_deleted(TableFormat format);
int purge_runs();
Expected<int> import_runs(const std::string& file, const PlanOptions& plan, bool json);

} // namespace fourfold::cli
