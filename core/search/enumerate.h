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

// The same a part at a time, so that a space of any size takes little memory.
class MeshParts {
public:
    explicit MeshParts(const SearchSpace& space)
        : space_(space)
    {
    }
    // The units of the next numbers of GPUs, until they are enough to share out; false when all were.
    bool next(std::vector<MeshUnit>& units);
    // Share of the numbers of GPUs that next() has given, where `share` of the last part is done.
    [[nodiscard]] double done(double share) const;
    [[nodiscard]] bool is_last() const { return next_ == space_.gpus.size(); }

private:
    const SearchSpace& space_;
    std::size_t first_ = 0, next_ = 0; // of the last part, and after it
};

// Calls `visit` for every candidate of a unit. Combinations that are the same layout come once: without a pipeline
// there is one schedule and one virtual stage, without ranks to share with there is one sharding, a schedule takes the
// virtual stages that it can (core/schedule/schedules.h), and an order counts only where it changes a group. Batches
// beyond the space's tolerance are left out.
void for_each_candidate(const SearchSpace& space, const ResolvedPlan& plan, const MeshUnit& unit,
    const std::function<void(const Candidate&)>& visit);

// The multiple of `unit` nearest to the batch within `tolerance` (a share); the batch itself with no tolerance; 0 where
// there is none.
int rounded_batch(int batch, std::int64_t unit, double tolerance);

} // namespace fourfold
