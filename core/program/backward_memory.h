// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/program/formula.h"
#include "core/program/rank_shape.h"

namespace fourfold {

// Bytes that the backward pass of one layer of the bundled trainer holds at its most beside what the forward kept of
// the layer: gradients on their way from product to product, what tensor parallelism gathers for them, operands rounded
// to 8 bits and the gradient of a weight.
template <typename Number = double>
Number backward_bytes(const ResolvedPlan& plan, const RankShape& rank, bool moe);

} // namespace fourfold
