// SPDX-License-Identifier: GPL-3.0-or-later
// Launches that the bundled trainer's host makes in a layer beyond those of a dense one in 16 bits, which the floors of
// a layer hold: of experts, and of what rounds the operands of products in 8 bits. Counted, not fitted:
// tests/parity/rehearsed_launches_test.cpp holds them to a rehearsal. Of other software they are in the constants.
#pragma once

#include "core/program/operation.h"
#include "core/program/rank_shape.h"

namespace fourfold {

struct Launches {
    double forward = 0, backward = 0;
};
// Of one layer and micro-batch.
Launches own_launches(const ResolvedPlan& plan, const RankShape& rank, bool moe);

// Of `layers` layers, `repeated` of which launch their forward pass again.
void add_own_launches(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, double layers,
    double repeated, bool moe);

} // namespace fourfold
