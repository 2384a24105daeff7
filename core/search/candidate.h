// SPDX-License-Identifier: GPL-3.0-or-later
// One point of a search: what a candidate changes in the plan that the search starts from.
#pragma once

#include "core/plan/plan.h"

#include <compare>
#include <cstdint>

namespace fourfold {

// Degrees as in Layout; everything else of the plan stays as it was written. 32 bytes, as a search holds many.
struct Candidate {
    int tp = 1, cp = 1, pp = 1, dp = 1, ep = 1;
    int global_batch = 0; // sequences; 0 = the plan's
    std::int16_t virtual_stages = 1, micro_batch = 1;
    Sharding sharding = Sharding::none;
    Recompute recompute = Recompute::none;
    Schedule schedule = kPlainSchedule;
    std::uint8_t order = 0; // index into SearchSpace::orders

    [[nodiscard]] int gpus() const { return tp * cp * pp * dp; }
    // A total order that has nothing to do with how good a candidate is: what makes results deterministic.
    auto operator<=>(const Candidate&) const = default;
};

} // namespace fourfold
