// SPDX-License-Identifier: GPL-3.0-or-later
// How fast a target's ranks are, measured by the trainer in a run of its own (runner/trainer/measure/measure.h).
#pragma once

#include "core/plan/plan.h"
#include "runner/nodes/run_observer.h"
#include "runner/target/target.h"

#include <filesystem>
#include <stop_token>
#include <vector>

namespace fourfold {

// The job that measures on so many ranks: the plan's model, sequence length, precision and data.
Expected<ResolvedPlan> measuring_job(const Plan& plan, int ranks);

// Launches it and returns its events `measured`; the run leaves nothing in the history and no folder here.
Expected<std::vector<Json>> measure_target(
    const ResolvedPlan& job, const Target& target, RunObserver& observer, std::stop_token stop);

} // namespace fourfold
