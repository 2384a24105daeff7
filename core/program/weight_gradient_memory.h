// SPDX-License-Identifier: GPL-3.0-or-later
// What a chunk must keep between its input gradient and its weight gradient when a schedule parts the two. Number: as
// in core/program/allocations.h.
#pragma once

#include "core/program/allocations.h"

namespace fourfold {

// Lifetime::weight_gradient of one micro-batch: a weight gradient is input^T times output gradient, so both operands of
// every product stay (Qi et al. 2023, arXiv:2401.10241, table 1: 32 s b h bytes per layer for GELU and multi-head
// attention). Nothing for schedules whose backward is whole.
template <typename Number = double>
void add_weight_gradient_allocations(std::vector<AllocationOf<Number>>& list, const ResolvedPlan& plan,
    const RankShape& rank, int dense_layers, int moe_layers, bool head);

// Bytes of one layer's operands.
template <typename Number = double>
Number layer_weight_operand_bytes(const ResolvedPlan& plan, const RankShape& rank, bool moe);

} // namespace fourfold
