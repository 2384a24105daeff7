// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/fit.h"
#include "core/plan/plan_constants.h"

#include "core/cost/runtime_switches.h"
#include "core/memory/replay.h"
#include "core/predict/step_time.h"

#include <algorithm>

namespace fourfold {

Fit judge_fit(double device_gib, double capacity_gib)
{
    if (!(device_gib <= capacity_gib))
        return Fit::no;
    return device_gib > (1 - kTightShare) * capacity_gib ? Fit::tight : Fit::fits;
}

double memory_pressure(double device_gib, double capacity_gib)
{
    constexpr double kBegins = 0.94;
    if (!(capacity_gib > 0))
        return 0;
    return std::clamp((device_gib / capacity_gib - kBegins) / (1 - kBegins), 0.0, 1.0);
}

double fragmentation_of(const ResolvedPlan& plan)
{
    const Constants constants = constants_of(plan);
    const double fragmentation = std::max(1.0, constants[Constant::fragmentation]);
    return runtime_switches(plan.run.environment).expandable_segments
        ? 1 + (fragmentation - 1) * constants[Constant::expandable_fragmentation]
        : fragmentation;
}

MemoryAnswer memory_answer(
    const ResolvedPlan& plan, const std::vector<StageProgram>& program, const PlanSchedule& schedule)
{
    const double fragmentation = fragmentation_of(plan);
    const double overhead = device_overhead_gib(plan);
    const int not_replayed = micro_batches_held_beyond(plan, schedule);
    std::vector<Action> room;
    MemoryAnswer answer;
    for (std::size_t i = 0; i < program.size(); ++i) {
        const MemoryPeak peak = replay_memory(program[i], schedule.actions_of(i, room), not_replayed);
        if (i == 0)
            answer.in_flight = peak.in_flight;
        const auto gib = [&](MemoryKind kind) { return peak.bytes[static_cast<std::size_t>(kind)] / kGib; };
        StageMemory stage{int(i), gib(MemoryKind::weights), gib(MemoryKind::gradients), gib(MemoryKind::optimizer),
            gib(MemoryKind::activations), gib(MemoryKind::other)};
        const double allocated = stage.total();
        const double device = allocated * fragmentation + overhead;
        if (plan.stack.memory_convention != MemoryConvention::peak_allocated)
            stage.other += allocated * (fragmentation - 1);
        if (plan.stack.memory_convention == MemoryConvention::device)
            stage.other += overhead;
        if (device > answer.device_gib) {
            answer.device_gib = device;
            answer.device_stage = int(i);
        }
        answer.published_gib = std::max(answer.published_gib, stage.total());
        answer.stages.push_back(stage);
    }
    const int published = plan.stack.memory_stage;
    if (published >= 0 && published < int(answer.stages.size()))
        answer.published_gib = answer.stages[static_cast<std::size_t>(published)].total();
    return answer;
}

} // namespace fourfold
