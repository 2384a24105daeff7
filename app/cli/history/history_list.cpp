// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/history/history_view.h"
#include "core/calibration/user/most_off.h"
#include "core/report/views/run_filter.h"

#include <algorithm>
#include <iostream>
#include <limits>

namespace fourfold::cli {

namespace {

// What fits a terminal's line.
Table short_table(const std::vector<RunSummary>& runs)
{
    Table table;
    table.columns = {{"id", "RUN"}, {"created", "CREATED (UTC)"}, {"state", "STATE"}, {"model", "MODEL"},
        {"gpus", "GPUS"}, {"layout", "LAYOUT"}, {"steps", "STEPS"}, {"predicted", "PREDICTED", 1},
        {"measured", "TPS/GPU", 1}, {"error", "ERROR", 1, 100, " %"}, {"memory", "GIB", 2}, {"most_off", "MOST OFF"}};
    for (const RunSummary& run : runs)
        table.rows.push_back({run.id, short_time(run.created), std::string(name(run.state)), run.model,
            std::int64_t{run.gpus}, run.layout, std::int64_t{run.steps}, cell(run.predicted_tps_per_gpu),
            cell(run.measured_tps_per_gpu), cell(run.tps_error), cell(run.measured_memory_gib), most_off_text(run)});
    return table;
}

} // namespace

Expected<std::vector<RunSummary>> listed_runs(const HistoryStore& store, int limit)
{
    FOURFOLD_TRY(auto runs, store.list(limit));
    if (std::none_of(runs.begin(), runs.end(), [](const RunSummary& run) { return run.most_off_due; }))
        return runs;
    // A history that cannot be written now is listed without.
    const auto compared = compare_traces(HistoryStore::default_file());
    return compared && *compared > 0 ? store.list(limit) : runs;
}

Json summary_json(const RunSummary& run)
{
    return runs_table({run}).to_json().front();
}

Expected<int> list_runs(TableFormat format, int limit, const std::string& filter)
{
    FOURFOLD_TRY(const auto store, open_history());
    std::vector<RunSummary> runs;
    if (store) {
        auto found = listed_runs(*store, filter.empty() ? limit : std::numeric_limits<int>::max());
        if (found)
            found = filtered_runs(*std::move(found), filter, "--filter");
        if (!found)
            return fail(found.error());
        runs = *std::move(found);
        runs.resize(std::min(runs.size(), static_cast<std::size_t>(limit)));
    }
    if (format == TableFormat::text && runs.empty() && !filter.empty()) {
        std::cerr << "no run matches " << in_quotes(filter) << "\n";
        return kDone;
    }
    if (format == TableFormat::text && runs.empty()) {
        std::cerr << "the history holds no run yet; start one with `fourfold run PLAN`\n";
        return kDone;
    }
    std::cout << (format == TableFormat::text ? short_table(runs) : runs_table(runs)).write(format);
    return kDone;
}

} // namespace fourfold::cli
