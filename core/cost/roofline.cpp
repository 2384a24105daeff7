// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/roofline.h"

#include "core/cost/prices.h"

#include <algorithm>

namespace fourfold {

Usage& Usage::add(const Usage& other, double times)
{
    for (std::size_t limit = 0; limit < kLimits; ++limit)
        seconds_[limit] += other.seconds_[limit] * times;
    return *this;
}

Limit Usage::longest() const
{
    return static_cast<Limit>(std::max_element(seconds_.begin(), seconds_.end()) - seconds_.begin());
}

Usage usage_of(const Operation& operation, const CostContext& context)
{
    if (operation.part == Part::pp || (operation.phase == Phase::recompute && !context.whole_recompute))
        return {};
    return Usage().add(std::visit(UsageOfWork{operation.phase, context}, operation.work), operation.repeat);
}

void add_chunk(StageUsage& stage, const Usage& forward, const Usage& backward, const Usage& weights, bool defers)
{
    const double later = defers ? 1 : 0;
    if (stage.chunks++ == 0) {
        stage.first_forward = forward;
        stage.first_backward = backward;
        stage.first_backward.add(weights, -later);
    }
    stage.micro_batch.add(forward).add(backward);
    stage.deferred.add(weights, later);
}

Roofline roofline(std::span<const StageUsage> stages, double micro_batches)
{
    Roofline least;
    double before = 0, back = 0; // of the stages before: one micro-batch through them and back
    for (const StageUsage& stage : stages) {
        const double forward = stage.first_forward.least_s(), backward = stage.first_backward.least_s();
        const double head = before + (stage.stages - 1) * forward, tail = back + (stage.stages - 1) * backward;
        Usage all = stage.step, passes;
        all.add(stage.micro_batch, micro_batches);
        passes.add(stage.micro_batch, micro_batches).add(stage.deferred, -micro_batches);
        for (const double time : {head + all.least_s(), head + passes.least_s() + tail}) {
            if (time > least.step_s)
                least = {time, all.longest()};
        }
        before += stage.stages * forward;
        back += stage.stages * backward;
    }
    return least;
}

} // namespace fourfold
