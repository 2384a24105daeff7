// SPDX-License-Identifier: GPL-3.0-or-later
// What narrow products ask for beside themselves: casts of their operands, and scales that ranks share.
#pragma once

#include "core/program/operation.h"
#include "core/program/rank_shape.h"
#include "core/program/recompute.h"

namespace fourfold {

// Of the inputs of `layers` layers' products forward and of their output gradients backward, `ffn_rows` rows of
// `ffn_width` before the last one.
void add_casts(std::vector<Operation>& list, const RankShape& rank, double layers, double ffn_rows, double ffn_width,
    const RecomputeShare& again, const Training& training);
// The largest magnitudes from which ranks that hold parts of a tensor or row make its scale.
void add_fp8_scales(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, double layers,
    const RecomputeShare& again);

} // namespace fourfold
