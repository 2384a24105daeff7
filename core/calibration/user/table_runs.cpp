// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/user/table_runs.h"

#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/calibration/measured_table.h"
#include "core/calibration/user/evidence.h"
#include "core/history/clock.h"
#include "core/history/event_types.h"
#include "core/history/transfer.h"

namespace fourfold {

Json measured_run(const ResolvedPlan& plan, const std::string& identity, const std::string& name,
    const std::string& state, const std::string& problem, const std::vector<Json>& events)
{
    return {{"fourfold_run", 1}, {"id", "import-" + sha256_hex(identity).substr(0, 20)}, {"name", name},
        {"target", kImportedTarget}, {"stack", plan.stack.id}, {"state", state}, {"problem", problem},
        {"created", history::now_text()}, {"plan_hash", plan_hash(plan)}, {"layout_hash", layout_hash(plan)},
        {"plan", to_json(plan, PresetStyle::inlined)}, {"prediction", to_json(predict_with_evidence(plan))},
        {"hosts", Json::array()}, {"environment", Json::object()}, {"events", {{"events", events}}}};
}

bool same_figures(const HistoryStore& store, const Json& run)
{
    const auto stored = export_run(store, run.at("id").get<std::string>());
    const auto figures = [](const Json& document) {
        Json out = document.value(Json::json_pointer("/events/events"), Json::array());
        for (Json& event : out) {
            Json known = Json::object(); // older imports wrote what is not known as null
            for (const auto& [key, value] : event.items())
                if (key != "time" && !value.is_null())
                    known[key] = value;
            event = std::move(known);
        }
        return out;
    };
    return stored && figures(*stored) == figures(run);
}

std::string other_figures(const Json& run)
{
    const auto id = run.at("id").get<std::string>();
    return "of " + in_quotes(run.at("name").get<std::string>())
        + " the history has other figures, which stay (two rows of one "
        + "name? to take these: `fourfold history delete " + id + "`, `fourfold history purge`, import again)";
}

Expected<std::vector<Json>> runs_of_table(
    std::string_view text, const std::string& file, std::vector<std::string>& remarks)
{
    FOURFOLD_TRY(const TableSources sources, TableSources::find());
    FOURFOLD_TRY(const MeasuredTable table, parse_measured_table(text, file, sources, Presets()));
    for (const Problem& problem : table.problems)
        remarks.push_back(problem.line());
    std::vector<Json> out;
    for (const MeasuredRow& row : table.rows) {
        if (!row.ran() && !row.crashed())
            continue;
        const std::string time = history::now_text();
        std::string identity = row.source + "|" + row.table + "|" + row.row;
        if (row.row.empty()) // a table of somebody who numbers nothing
            identity += layout_hash(row.plan) + "|" + std::to_string(row.tps_per_gpu.value_or(0));
        const std::string state = std::string(name(row.status));
        std::vector<Json> events;
        if (row.ran()) {
            StepEvent event;
            event.step = 1;
            event.step_time_s = row.step_time_s;
            event.tps_per_gpu = row.tps_per_gpu;
            event.memory_peak_gib = row.memory_gib;
            events.push_back(event_of_import(0, time, event));
        }
        events.push_back(event_of_import(events.size(), time, EndEvent{.status = state}));
        out.push_back(measured_run(row.plan, identity, row.source + " " + row.table + " " + row.row, state,
            row.crashed() ? "measured elsewhere as " + state : "", events));
    }
    if (out.empty())
        return Problem{ProblemCode::bad_input, "no row that ran or crashed",
            "see presets/published/README.md for the columns", file};
    return out;
}

} // namespace fourfold
