// SPDX-License-Identifier: GPL-3.0-or-later
// Plans whose steps tell how a machine does what single operations do not show: a layer's many kernels, a step's fixed
// costs, ranks that share cores and wait for each other.
#pragma once

#include "core/plan/plan.h"

#include <vector>

namespace fourfold::trainer {

// Of the plan's model, made shallow where it is deep, on 1 to `plan.gpus` ranks; the most telling ones first. Only what
// this trainer runs.
std::vector<ResolvedPlan> measuring_plans(const ResolvedPlan& plan);

} // namespace fourfold::trainer
