// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/sweep.h"

#include "core/base/parallel.h"
#include "core/plan/fields.h"
#include "core/search/space.h"

#include <limits>
#include <mutex>

namespace fourfold {
namespace {

GridCell cell_of(const ResolvedPlan& base, const GridLayout& layout, int gpus,
    const std::function<Prediction(const ResolvedPlan&)>& predicting)
{
    GridCell cell;
    const auto plan = plan_of_cell(base, layout, gpus);
    if (!plan) {
        cell.reason = {"degrees_do_not_multiply", "gpus", plan.error().message, ""};
        return cell;
    }
    const Prediction prediction = predicting(*plan);
    cell.fit = prediction.fit;
    cell.evidence = prediction.evidence;
    cell.step_time_s = prediction.step_time_s;
    cell.tps_per_gpu = prediction.tps_per_gpu;
    cell.tflops_per_gpu = prediction.tflops_per_gpu;
    cell.mfu = prediction.mfu;
    cell.memory_gib = prediction.memory_gib;
    cell.memory_device_gib = prediction.memory_device_gib;
    cell.interval = prediction.interval;
    cell.status = prediction.feasible ? GridStatus::runs : GridStatus::does_not_fit;
    for (const Reason& reason : prediction.reasons) {
        cell.reason = reason;
        if (reason.code == "memory")
            continue;
        cell.status = GridStatus::impossible;
        break;
    }
    return cell;
}

} // namespace

std::optional<double> GridFigures::get(GridValue value) const
{
    switch (value) {
    case GridValue::tps_per_gpu:
        return tps_per_gpu;
    case GridValue::tflops_per_gpu:
        return tflops_per_gpu;
    case GridValue::mfu:
        return mfu;
    case GridValue::memory_gib:
        return memory_gib;
    case GridValue::step_time_s:
        break;
    }
    return step_time_s;
}

std::optional<double> value_of(const GridCell& cell, GridValue value)
{
    return cell.status == GridStatus::runs ? cell.get(value) : std::nullopt;
}

Expected<ResolvedPlan> plan_of_cell(const ResolvedPlan& base, const GridLayout& layout, int gpus)
{
    const std::int64_t inner = std::int64_t(layout.tp) * layout.cp * layout.pp;
    if (inner > gpus || gpus % inner != 0)
        return Problem{ProblemCode::bad_input,
            "tp " + std::to_string(layout.tp) + " x cp " + std::to_string(layout.cp) + " x pp "
                + std::to_string(layout.pp) + " = " + std::to_string(inner) + " does not divide " + std::to_string(gpus)
                + " GPUs",
            "", "gpus"};
    constexpr int kMost = std::numeric_limits<std::int16_t>::max();
    if (layout.micro_batch > kMost || layout.virtual_stages > kMost)
        return Problem{
            ProblemCode::bad_input, "micro_batch or virtual_stages is above " + std::to_string(kMost), "", "layout"};
    if (std::int64_t(layout.pp) * layout.virtual_stages > kMaxChunks)
        return Problem{ProblemCode::bad_input,
            "pp x virtual_stages is more than " + std::to_string(kMaxChunks) + " model chunks", "", "layout"};
    SearchSpace space;
    space.orders = {base.layout.order};
    Candidate candidate;
    candidate.tp = layout.tp;
    candidate.cp = layout.cp;
    candidate.pp = layout.pp;
    candidate.dp = int(gpus / inner);
    candidate.ep = base.layout.ep;
    candidate.virtual_stages = std::int16_t(layout.virtual_stages);
    candidate.micro_batch = std::int16_t(layout.micro_batch);
    candidate.sharding = base.training.sharding;
    candidate.recompute = base.training.recompute;
    candidate.schedule
        = layout.pp == 1 ? kPlainSchedule : schedule_taking(base.training.schedule, layout.virtual_stages);
    ResolvedPlan plan = base;
    place(candidate, space, base, plan);
    return plan;
}

LayoutGrid sweep_layouts(const ResolvedPlan& base, std::vector<GridLayout> layouts, std::vector<int> gpus, int threads,
    const std::function<void(std::size_t layout, std::size_t gpus, const GridCell&)>& done,
    std::stop_token stop, // NOLINT(performance-unnecessary-value-param)
    const std::function<Prediction(const ResolvedPlan&)>& predicting)
{
    LayoutGrid grid{std::move(layouts), std::move(gpus), {}, false};
    grid.cells.assign(grid.layouts.size(), std::vector<GridCell>(grid.gpus.size()));
    std::mutex mutex; // one call of `done` at a time
    for_each_parallel(grid.layouts.size() * grid.gpus.size(), threads, stop, [&](std::size_t i) {
        const std::size_t row = i / grid.gpus.size(), column = i % grid.gpus.size();
        grid.cells[row][column] = cell_of(base, grid.layouts[row], grid.gpus[column], predicting);
        if (!done)
            return;
        const std::lock_guard lock(mutex);
        done(row, column, grid.cells[row][column]);
    });
    grid.cancelled = stop.stop_requested();
    return grid;
}

} // namespace fourfold
