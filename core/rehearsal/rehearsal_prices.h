// SPDX-License-Identifier: GPL-3.0-or-later
// The planner's prices for what a rehearsed rank does: its kernels as they were called, its collectives and messages.
#pragma once

#include "core/cost/context.h"
#include "core/rehearsal/rank_program.h"

#include <string_view>

namespace fourfold {

class RehearsalPrices {
public:
    explicit RehearsalPrices(const ResolvedPlan& plan);
    // Seconds once every member is there. `group`: as in the trainer's events, "tp", "pp_back".
    [[nodiscard]] double wire(std::string_view group, const WireOperation& asked) const;
    // Batched, no wider than a head: one of attention's. `exact`: in 32 bits, whatever the plan's numbers.
    [[nodiscard]] double product(const Gemm& product, bool exact = false) const;
    [[nodiscard]] double attention(Attention attention, Phase phase) const;
    [[nodiscard]] double traffic(double bytes) const; // of a kernel that is bound by the memory
    [[nodiscard]] double host_copy(double bytes) const; // one way between the memories of device and host
    [[nodiscard]] double host_update(double parameters) const; // of an optimizer on the host

private:
    CostContext context_;
    double exact_; // times as long as the plan's products take those in 32 bits
    double ring_blocks_; // of what the kernel is called with, in how many parts it is cut: slower than whole
};

} // namespace fourfold
