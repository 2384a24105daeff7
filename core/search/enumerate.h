// SPDX-License-Identifier: GPL-3.0-or-later
// Walks over a space in a fixed order, in units that threads share out.
#pragma once

#include "core/search/space.h"

#include <functional>
#include <stop_token>

namespace fourfold {

// All layouts with the same mesh: what the inner axes vary shares groups of ranks and shards of the model.
struct MeshUnit {
    int tp = 1, cp = 1, pp = 1, dp = 1;
    std::uint8_t order = 0;
};
std::vector<MeshUnit> mesh_units(const SearchSpace& space);

// Calls `visit` for every candidate of a unit. Combinations that are the same layout come once: without a pipeline
// there is one schedule and one virtual stage, without ranks to share with there is one sharding, a schedule takes the
// virtual stages that it can (core/schedule/schedules.h), and an order counts only where it changes a group. Batches beyond the space's tolerance are left out.
void for_each_candidate(const SearchSpace& space, const ResolvedPlan& plan, const MeshUnit& unit,
    const std::function<void(const Candidate&)>& visit);

// The multiple of `unit` nearest to the batch within `tolerance` (a share); the batch itself with no tolerance; 0 where
// there is none.
int rounded_batch(int batch, std::int64_t unit, double tolerance);

} // namespace fourfold
