// SPDX-License-Identifier: GPL-3.0-or-later
// What the host adds to the time of a rehearsed rank's kernels, as the planner has it: a pass through a few short
// layers takes as long as their launches, and some costs come with every micro-batch and every step.
#pragma once

#include "core/plan/plan.h"
#include "core/schedule/actions.h"

#include <vector>

namespace fourfold {

class HostTimes {
public:
    // `stage_of_chunk`: of the plan's schedule.
    HostTimes(const ResolvedPlan& plan, const std::vector<int>& stage_of_chunk);

    // Seconds beyond those of the device, `device_s`, that a pass takes. Of a backward pass in two halves each has half
    // of what the whole has.
    [[nodiscard]] double beyond(const Action& action, double device_s) const;
    [[nodiscard]] double of_step() const { return step_s_; } // seconds, once a step

private:
    struct Pass {
        double floor_s = 0; // that the launches take
        double fixed_s = 0;
    };
    struct Chunk {
        Pass forward, backward;
    };
    std::vector<Chunk> chunks_;
    double power_ = 1, step_s_ = 0;
};

} // namespace fourfold
