// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/sweep/measured_sweep.h"

#include "core/predict/prediction.h"

namespace fourfold {

namespace {

Json identity_of(const SweepRequest& request)
{
    Json layouts = Json::array();
    for (const GridLayout& layout : request.layouts)
        layouts.push_back(SweepCell{layout, 0}.key());
    return {{"plan", request.plan.document}, {"layouts", std::move(layouts)}, {"target", to_json(request.target)},
        {"steps", request.steps ? Json(*request.steps) : Json(nullptr)}};
}

CellResult run_cell(const SweepRequest& request, const SweepCell& cell, RunObserver& observer, std::stop_token stop)
{
    CellResult out;
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
    out.status = std::string(name(result->state));
    out.run = result->id;
    out.tps_per_gpu = result->state == RunState::ok ? result->measured_tps_per_gpu : std::nullopt;
    out.predicted_tps_per_gpu
        = result->predicted_tps_per_gpu ? result->predicted_tps_per_gpu : out.predicted_tps_per_gpu;
    if (result->problem)
        out.why = result->problem->line();
    return out;
}

} // namespace

Expected<SweepRecord> open_record(const SweepRequest& request)
{
    return SweepRecord::open(identity_of(request), request.again);
}

Expected<SweepTable> measure_sweep(const SweepRequest& request, RunObserver& observer, std::stop_token stop,
    const std::function<void(const SweepTable&, const std::string& next)>& done)
{
    FOURFOLD_TRY(SweepRecord record, open_record(request));
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
    for (std::size_t column = 0; column < request.gpus.size(); ++column) {
        for (std::size_t row = 0; row < request.layouts.size(); ++row) {
            const SweepCell cell{request.layouts[row], request.gpus[column]};
            auto& place = table.cells[row][column];
            if (place && place->final())
                continue;
            if (stop.stop_requested()) {
                table.stopped = true;
                continue;
            }
            done(table, cell.name());
            place = run_cell(request, cell, observer, stop);
            FOURFOLD_CHECK(record.set(cell.key(), *place));
            table.stopped = table.stopped || stop.stop_requested();
        }
    }
    done(table, {});
    return table;
}

} // namespace fourfold
