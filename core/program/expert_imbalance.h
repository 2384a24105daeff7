// SPDX-License-Identifier: GPL-3.0-or-later
// How unevenly a router without a capacity loads the ranks of expert parallelism, as a distribution.
#pragma once

#include "core/plan/plan.h"

namespace fourfold {

// Tokens of the busiest expert-parallel rank above the mean, as a share of the mean, that `quantile` of micro-batches
// stay below. Only its mean is known (the stack's expert_imbalance), and that it is not below 0: of such distributions
// the exponential one assumes the least (Jaynes 1957, "Information Theory and Statistical Mechanics", section 2), so
// x = -mean ln(1 - quantile). At most what one rank can get, or what a capacity leaves it; 0 without expert
// parallelism. quantile: 0 to below 1.
double expert_imbalance_at(const ResolvedPlan& plan, double quantile);

// The plan with this imbalance in the place of its stack's mean.
ResolvedPlan with_expert_imbalance(ResolvedPlan plan, double imbalance);

} // namespace fourfold
