// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/memory_curve.h"

#include "core/memory/replay.h"
#include "core/plan/plan_schedule.h"
#include "core/predict/step_time.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace fourfold {
namespace {

KindBytes in_gib(const KindBytes& bytes)
{
    KindBytes gib{};
    for (std::size_t i = 0; i < gib.size(); ++i)
        gib[i] = bytes[i] / kGib;
    return gib;
}

// Constant until `end`; nothing of no length.
void extend(std::vector<MemoryPoint>& points, double end, const KindBytes& bytes)
{
    const double start = points.empty() ? 0 : points.back().end_s;
    if (end > start)
        points.push_back({start, end, in_gib(bytes)});
}

std::vector<MemoryPoint> points_of(
    const Prediction& prediction, const StageProgram& program, const std::vector<Action>& actions)
{
    std::map<std::tuple<SpanKind, int, int>, const Span*> spans;
    double last = 0; // end of the last pass of the stage
    for (const Span& span : prediction.timeline.spans) {
        if (span.stage != program.stage || span.micro_batch < 0)
            continue;
        spans.emplace(std::tuple(span.kind, span.micro_batch, span.chunk), &span);
        last = std::max(last, span.end_s);
    }
    std::vector<MemoryPoint> points;
    KindBytes alive{};
    for (const Allocation& allocation : program.allocations) {
        if (allocation.lifetime == Lifetime::step)
            alive[static_cast<std::size_t>(allocation.kind)] += allocation.bytes;
    }
    for (const MemoryInstant& instant : replay_instants(program, actions)) {
        if (instant.action < 0) { // the update, from the last pass to the end of the step
            extend(points, std::max(last, prediction.timeline.length_s), instant.during);
            break;
        }
        const Action& action = actions[static_cast<std::size_t>(instant.action)];
        const auto found = spans.find({span_kind(action.kind), action.micro_batch, action.chunk});
        if (found == spans.end())
            continue; // a pass that takes no time
        extend(points, found->second->start_s, alive);
        extend(points, found->second->end_s, instant.during);
        alive = instant.after;
    }
    return points;
}

} // namespace

double MemoryPoint::total() const
{
    return std::accumulate(gib.begin(), gib.end(), 0.0);
}

MemoryCurve memory_over_time(const Prediction& prediction, int stage)
{
    MemoryCurve curve;
    curve.stage = stage;
    const ResolvedPlan& plan = prediction.plan;
    if (stage < 0 || stage >= plan.layout.pp || prediction.timeline.spans.empty())
        return curve;
    const int simulated = micro_batches_to_simulate(plan);
    const auto schedule = plan_schedule(plan, simulated);
    if (!schedule)
        return curve;
    const auto index = static_cast<std::size_t>(stage);
    const std::vector<StageProgram> program = build_program(plan, schedule->stage_of_chunk);
    curve.points = points_of(prediction, program[index], schedule->actions[index]);
    for (const MemoryPoint& point : curve.points) {
        if (point.total() > curve.peak_gib) {
            curve.peak_gib = point.total();
            curve.peak_s = point.start_s;
        }
    }
    if (index < prediction.memory_by_stage.size())
        curve.beyond_gib = std::max(0.0, prediction.memory_by_stage[index].total() - curve.peak_gib);
    curve.shortened = simulated < plan.training.micro_batches;
    return curve;
}

} // namespace fourfold
