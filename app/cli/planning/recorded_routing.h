// SPDX-License-Identifier: GPL-3.0-or-later
// How unevenly a run's router loaded the ranks of expert parallelism.
#pragma once

#include "core/plan/plan.h"

#include <string>

namespace fourfold::cli {

// Tokens of the busiest of the plan's expert-parallel ranks above the mean, as a share of it: the most that the step
// events in this file (a run's events.jsonl) have of as many ranks.
Expected<double> recorded_imbalance(const std::string& file, const ResolvedPlan& plan);

} // namespace fourfold::cli
