// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/user/table_runs.h"

#include "core/base/sha256.h"
#include "core/calibration/measured_table.h"
#include "core/calibration/user/evidence.h"
#include "core/history/clock.h"
#include "core/history/run_event.h"

namespace fourfold {

Json measured_run(const ResolvedPlan& plan, const std::string& identity, const std::string& name,
    const std::string& state, const std::string& problem, const std::vector<Json>& events)
{
    return {{"fourfold_run", 1}, {"id", "import-" + sha256_hex(identity).substr(0, 20)}, {"name", name},
        {"target", "imported"}, {"stack", plan.stack.id}, {"state", state}, {"problem", problem},
        {"created", history::now_text()}, {"plan_hash", plan_hash(plan)}, {"layout_hash", layout_hash(plan)},
        {"plan", to_json(plan, PresetStyle::inlined)}, {"prediction", to_json(predict_with_evidence(plan))},
        {"hosts", Json::array()}, {"environment", Json::object()}, {"events", {{"events", events}}}};
}

Expected<std::vector<Json>> runs_of_table(const std::filesystem::path& file, std::vector<std::string>& remarks)
{
    FOURFOLD_TRY(const TableSources sources, TableSources::find());
    FOURFOLD_TRY(const MeasuredTable table, read_measured_table(file, sources, Presets()));
    for (const Problem& problem : table.problems)
        remarks.push_back(problem.line());
    std::vector<Json> out;
    for (const MeasuredRow& row : table.rows) {
        if (!row.ran() && !row.crashed())
            continue;
        const std::string time = history::now_text(), identity = row.source + "|" + row.table + "|" + row.row;
        const std::string state = std::string(name(row.status));
        std::vector<Json> events;
        if (row.ran())
            events.push_back({{"seq", 0}, {"time", time}, {"rank", 0}, {"event", name(EventKind::step)}, {"step", 1},
                {"step_time_s", number_or_null(row.step_time_s)}, {"tps_per_gpu", number_or_null(row.tps_per_gpu)},
                {"memory_peak_gib", number_or_null(row.memory_gib)}});
        events.push_back(
            {{"seq", events.size()}, {"time", time}, {"rank", 0}, {"event", name(EventKind::end)}, {"status", state}});
        out.push_back(measured_run(row.plan, identity, row.source + " " + row.table + " " + row.row, state,
            row.crashed() ? "measured elsewhere as " + state : "", events));
    }
    if (out.empty())
        return Problem{ProblemCode::bad_input, "no row that ran or crashed",
            "see presets/published/README.md for the columns", file.string()};
    return out;
}

Expected<ImportedTable> import_table(HistoryStore& store, const std::filesystem::path& file)
{
    ImportedTable result;
    FOURFOLD_TRY(const std::vector<Json> runs, runs_of_table(file, result.remarks));
    for (std::size_t i = 0; i < runs.size(); ++i) {
        auto id = store.import_run(runs[i]);
        if (id) {
            ++result.added;
        } else if (id.error().code == ProblemCode::conflict) {
            ++result.known;
        } else {
            Problem problem = std::move(id).error();
            problem.where = file.string() + ": [" + std::to_string(i) + "]: " + problem.where;
            return problem;
        }
    }
    return result;
}

} // namespace fourfold
