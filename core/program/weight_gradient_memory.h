// SPDX-License-Identifier: GPL-3.0-or-later
// What a chunk must keep between its input gradient and its weight gradient when a schedule parts the two.
#pragma once

#include "core/program/operation.h"
#include "core/program/rank_shape.h"

namespace fourfold {

// Lifetime::weight_gradient of one micro-batch: a weight gradient is input^T times output gradient, so both operands of
// every product stay (Qi et al. 2023, arXiv:2401.10241, table 1: 32 s b h bytes a layer for GELU and multi-head
// attention). Empty for schedules whose backward is whole.
std::vector<Allocation> weight_gradient_allocations(
    const ResolvedPlan& plan, const RankShape& rank, int dense_layers, int moe_layers, bool head);

// Bytes of one layer's operands.
double layer_weight_operand_bytes(const ResolvedPlan& plan, const RankShape& rank, bool moe);

} // namespace fourfold
