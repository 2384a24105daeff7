// SPDX-License-Identifier: GPL-3.0-or-later
// One plan on more and fewer GPUs: the same tp, cp and pp, data parallelism takes up the rest (strong scaling).
#pragma once

#include "core/plan/plan.h"
#include "core/plan/presets.h"

#include <stop_token>
#include <vector>

namespace fourfold::ui {

struct ScalingPoint {
    int gpus = 0;
    double tps_per_gpu = 0;
};
// Counts are multiples of tp * cp * pp by powers of two, at most `most` of them around the plan's own count; those that
// break a rule are left out. DP follows as it does when a user edits the number of GPUs. Ends early when stop is
// requested. Runs predict(): call it off the GUI thread.
std::vector<ScalingPoint> scalingOf(
    const ResolvedPlan& plan, const Presets& presets, int most, const std::stop_token& stop);

} // namespace fourfold::ui
