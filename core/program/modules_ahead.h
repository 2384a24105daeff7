// SPDX-License-Identifier: GPL-3.0-or-later
// What the modules that predict further ahead add to the chunk with the head (ModelShape::predicted_ahead; nothing
// where there are none).
#pragma once

#include "core/program/operation.h"
#include "core/program/rank_shape.h"
#include "core/program/sharding_operations.h"

namespace fourfold {

// Whether a plan's recomputation repeats them: where it repeats every layer.
bool repeats_modules(const Training& training);

void add_module_operations(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank);
void add_module_parameters(StageParameters& sum, const ResolvedPlan& plan, const RankShape& rank);

} // namespace fourfold
