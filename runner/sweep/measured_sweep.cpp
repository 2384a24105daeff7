// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/sweep/measured_sweep.h"

#include "core/history/store.h"
#include "core/predict/prediction.h"
#include "runner/nodes/forwarding_observer.h"
#include "runner/runs/attempts.h"
#include "runner/runs/run_record.h"

#include <limits>
#include <set>

namespace fourfold {

namespace {

Json identity_of(const SweepRequest& request)
{
    return {{"plan", request.plan.document}, {"target", to_json(request.target)},
        {"steps", request.steps ? Json(*request.steps) : Json(nullptr)}};
}

CellResult result_of(const RunResult& run)
{
    CellResult out;
    out.status = std::string(name(run.state));
    out.run = run.id;
    out.tps_per_gpu = run.state == RunState::ok ? run.measured_tps_per_gpu : std::nullopt;
    out.predicted_tps_per_gpu = run.predicted_tps_per_gpu;
    if (run.problem)
        out.why = run.problem->line();
    return out;
}

// `known`: what an earlier sweep left of the cell, without an end.
CellResult run_cell(const SweepRequest& request, const SweepCell& cell, const std::optional<CellResult>& known,
    RunObserver& observer, std::stop_token stop)
{
    CellResult out;
    if (known && !known->run.empty()) {
        // Its ranks may still run: another run beside them would measure neither.
        const auto left = follow_to_end(known->run, observer, stop, request.history_file, OnStop::cancel);
        if (left && (result_of(*left).final() || stop.stop_requested() || !is_terminal(left->state)))
            return result_of(*left);
        if (!left && left.error().code != ProblemCode::not_found) { // it was deleted
            out.status = "refused";
            out.run = known->run;
            out.why = left.error().line();
            return out;
        }
    }
    auto plan = plan_of_cell(request.plan, cell);
    if (!plan) {
        out.status = "impossible";
        out.why = plan.error().line();
        return out;
    }
    const Prediction prediction = predict(*plan);
    out.predicted_tps_per_gpu = prediction.tps_per_gpu;
    if (request.skip_unfit && !prediction.feasible) {
        out.status = "unfit";
        out.why = prediction.reasons.empty() ? "predicted not to fit" : prediction.reasons.front().message;
        return out;
    }
    RunRequest run;
    run.plan = *std::move(plan);
    run.plan.name += " [" + cell.name() + "]";
    run.target = target_of_cell(request.target, cell.gpus);
    run.steps = request.steps;
    run.trainer = request.trainer;
    run.agent = request.agent;
    run.history_file = request.history_file;
    const auto result = launch(run, observer, stop);
    if (!result) {
        // A plan that the trainer cannot run, or nodes that are not ready: nothing was measured.
        out.status = result.error().code == ProblemCode::bad_input ? "impossible" : "refused";
        out.why = result.error().line();
        return out;
    }
    const auto predicted = out.predicted_tps_per_gpu;
    out = result_of(*result);
    out.predicted_tps_per_gpu = out.predicted_tps_per_gpu ? out.predicted_tps_per_gpu : predicted;
    return out;
}

} // namespace

Expected<SweepRecord> open_record(const SweepRequest& request)
{
    FOURFOLD_TRY(SweepRecord record, SweepRecord::open(identity_of(request), request.again));
    // Whoever deletes a run does not want its figure; a history that was moved away leaves the runs' folders.
    const auto store = HistoryStore::open_existing(
        request.history_file.empty() ? HistoryStore::default_file() : request.history_file);
    if (store && *store) {
        std::set<std::string> deleted;
        if (const auto hidden = (*store)->list(std::numeric_limits<int>::max(), Runs::deleted)) {
            for (const RunSummary& run : *hidden) {
                if (is_terminal(run.state)) // one that goes on would disturb the next
                    deleted.insert(run.id);
            }
        }
        record.forget([&](const std::string& run) {
            std::error_code error;
            return deleted.contains(run)
                || (!(*store)->full_id(run) && !std::filesystem::exists(run_record_folder(run), error));
        });
    }
    return record;
}

Expected<SweepTable> measure_sweep(const SweepRequest& request, RunObserver& observer, std::stop_token stop,
    const std::function<void(const SweepTable&, const std::string& next)>& done)
{
    FOURFOLD_TRY(const SweepRecord unlocked, SweepRecord::open(identity_of(request), request.again));
    FOURFOLD_TRY(const FileDescriptor taken, unlocked.take());
    FOURFOLD_TRY(SweepRecord record, open_record(request)); // as whoever had it left it, without deleted runs
    SweepTable table;
    table.layouts = request.layouts;
    table.gpus = request.gpus;
    table.record = record.file();
    table.cells.assign(request.layouts.size(), std::vector<std::optional<CellResult>>(request.gpus.size()));
    for (std::size_t column = 0; column < request.gpus.size(); ++column) {
        for (std::size_t row = 0; row < request.layouts.size(); ++row) {
            if (const CellResult* known = record.find(SweepCell{request.layouts[row], request.gpus[column]}.key()))
                table.cells[row][column] = *known;
        }
    }
    // A run that could not be followed to its end: another one beside it would measure neither.
    bool goes_on = false;
    for (std::size_t column = 0; column < request.gpus.size(); ++column) {
        for (std::size_t row = 0; row < request.layouts.size(); ++row) {
            const SweepCell cell{request.layouts[row], request.gpus[column]};
            auto& place = table.cells[row][column];
            if (place && place->final())
                continue;
            table.stopped = table.stopped || stop.stop_requested();
            if (table.stopped || goes_on)
                continue;
            done(table, cell.name());
            CreationObserver noting(observer, [&](const std::string& run) {
                (void)record.set(cell.key(), {"running", run, {}, {}, {}});
            });
            place = run_cell(request, cell, place, noting, stop);
            FOURFOLD_CHECK(record.set(cell.key(), *place));
            table.stopped = stop.stop_requested();
            goes_on = !is_terminal(run_state(place->status));
        }
    }
    done(table, {});
    return table;
}

} // namespace fourfold
