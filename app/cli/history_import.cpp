// SPDX-License-Identifier: GPL-3.0-or-later
// Measurements of other software as runs of the history: published tables, and logs of other trainers.
#include "app/cli/history_import.h"

#include "core/base/sha256.h"
#include "core/calibration/measured_table.h"
#include "core/calibration/published_layouts.h"
#include "core/history/training_log.h"
#include "core/predict/prediction.h"
#include "runner/protocol/message.h"

namespace fourfold::cli {

namespace {

constexpr std::size_t kMostLog = std::size_t{1} << 30;

// The run document that HistoryStore::import_run takes. The id follows from `identity`, so that the same measurement is
// not taken twice.
Json document_of(const ResolvedPlan& plan, const std::string& identity, const std::string& name,
    const std::string& state, const std::string& problem, const std::vector<Json>& events)
{
    return {{"fourfold_run", 1}, {"id", "import-" + sha256_hex(identity).substr(0, 20)}, {"name", name},
        {"target", "imported"}, {"stack", plan.stack.id}, {"state", state}, {"problem", problem},
        {"created", utc_now()}, {"plan_hash", plan_hash(plan)}, {"layout_hash", layout_hash(plan)},
        {"plan", to_json(plan, PresetStyle::inlined)}, {"prediction", to_json(predict_with_evidence(plan))},
        {"hosts", Json::array()}, {"environment", Json::object()}, {"events", {{"events", events}}}};
}

Json figure(const std::optional<double>& value)
{
    return value ? Json(*value) : Json(nullptr);
}

} // namespace

Expected<std::vector<Json>> runs_of_table(const std::string& file, std::vector<std::string>& remarks)
{
    FOURFOLD_TRY(const TableSources sources, TableSources::find());
    FOURFOLD_TRY(const MeasuredTable table, read_measured_table(file, sources, Presets()));
    for (const Problem& problem : table.problems)
        remarks.push_back(problem.line());
    std::vector<Json> out;
    for (const MeasuredRow& row : table.rows) {
        if (!row.ran() && !row.crashed())
            continue;
        const std::string time = utc_now(), identity = row.source + "|" + row.table + "|" + row.row;
        const std::string state = std::string(name(row.status));
        std::vector<Json> events;
        if (row.ran())
            events.push_back({{"seq", 0}, {"time", time}, {"rank", 0}, {"event", "step"}, {"step", 1},
                {"step_time_s", figure(row.step_time_s)}, {"tps_per_gpu", figure(row.tps_per_gpu)},
                {"memory_peak_gib", figure(row.memory_gib)}});
        events.push_back({{"seq", events.size()}, {"time", time}, {"rank", 0}, {"event", "end"}, {"status", state}});
        out.push_back(document_of(row.plan, identity, row.source + " " + row.table + " " + row.row, state,
            row.crashed() ? "measured elsewhere as " + state : "", events));
    }
    if (out.empty())
        return Problem{ProblemCode::bad_input, "no row that ran or crashed",
            "see presets/published/README.md for the columns", file};
    return out;
}

Expected<std::vector<Json>> runs_of_log(const std::string& file, const PlanOptions& options)
{
    FOURFOLD_TRY(const std::string text, read_text_file(file, kMostLog));
    FOURFOLD_TRY(const TrainingLog log, parse_training_log(text, file));
    if (options.plan.empty())
        return Problem{ProblemCode::bad_input,
            "a log of " + log.stack + " does not say which model and layout it is of",
            "name the plan that was run with --plan", file};
    const Presets presets;
    FOURFOLD_TRY(Plan plan, options.load(presets));
    FOURFOLD_TRY(plan, with_assignment(plan, "stack=" + log.stack));
    FOURFOLD_TRY(const ResolvedPlan resolved, resolve(plan, presets));
    const auto differs = [&](const char* field, const std::optional<int>& logged, int planned) -> Expected<void> {
        if (!logged || *logged == planned)
            return {};
        return Problem{ProblemCode::bad_input,
            std::string("the log says ") + field + " " + std::to_string(*logged) + ", the plan "
                + std::to_string(planned),
            "name the plan that was run, or change it with --set", file};
    };
    FOURFOLD_CHECK(differs("gpus", log.gpus, resolved.gpus));
    FOURFOLD_CHECK(differs("seq_len", log.seq_len, resolved.training.seq_len));
    const auto events
        = events_of_log(log, resolved.training.global_batch, resolved.training.seq_len, resolved.gpus, utc_now());
    const bool memory = log.out_of_memory;
    return std::vector<Json>{document_of(resolved, sha256_hex(text), resolved.name + " (log of " + log.stack + ")",
        memory ? "oom" : "ok", memory ? "the log ends with CUDA out of memory" : "", events)};
}

} // namespace fourfold::cli
