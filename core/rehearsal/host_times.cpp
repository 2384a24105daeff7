// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/rehearsal/host_times.h"

#include "core/cost/passes.h"
#include "core/plan/plan_constants.h"
#include "core/program/build.h"

namespace fourfold {

HostTimes::HostTimes(const ResolvedPlan& plan, const std::vector<int>& stage_of_chunk)
{
    const Constants constants = constants_of(plan);
    power_ = constants[Constant::layer_floor_power];
    step_s_ = constants[Constant::step_overhead_s];
    const RankShape rank = rank_shape(plan);
    for (const ChunkShape& shape : chunk_shapes(plan, stage_of_chunk)) {
        Chunk chunk;
        for (const Operation& operation : build_chunk(plan, rank, shape).operations) {
            const auto* host = operation.as<HostCost>();
            if (host == nullptr || operation.window != Window::none || host->rule == HostRule::share)
                continue;
            Pass& pass = operation.phase == Phase::forward ? chunk.forward : chunk.backward;
            (host->rule == HostRule::floor ? pass.floor_s : pass.fixed_s)
                += constants[host->constant] * host->times * operation.repeat;
        }
        chunks_.push_back(chunk);
    }
}

double HostTimes::beyond(const Action& action, double device_s) const
{
    const Chunk& chunk = chunks_.at(std::size_t(action.chunk));
    const Pass& pass = action.kind == ActionKind::forward ? chunk.forward : chunk.backward;
    const bool half = action.kind == ActionKind::input_gradient || action.kind == ActionKind::weight_gradient;
    const double share = half ? 0.5 : 1;
    return smooth_maximum(device_s, share * pass.floor_s, power_) - device_s + share * pass.fixed_s;
}

} // namespace fourfold
