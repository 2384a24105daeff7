// SPDX-License-Identifier: GPL-3.0-or-later
// Random plans that pass every structural rule, the same on every machine.
#pragma once

#include "core/plan/plan.h"
#include "core/plan/presets.h"

#include <vector>

namespace fourfold::test {

// The presets of the source tree, never the user's own.
const Presets& source_presets();

// Reads and resolves; throws std::runtime_error with the problem's line (GoogleTest reports it).
ResolvedPlan resolved(const Json& plan);
// A plan of presets/plans by file name without ".plan.json".
ResolvedPlan example(const std::string& name);

// `count` plans over all model families, clusters, stacks, degrees, sharding and recomputation modes; small batches.
std::vector<ResolvedPlan> random_valid_plans(int count, unsigned seed);

} // namespace fourfold::test
