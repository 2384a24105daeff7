// SPDX-License-Identifier: GPL-3.0-or-later
// Attention that no fused kernel of LibTorch takes: on GPUs the bundled trainer computes it for a block of queries
// after the other, in LibTorch's products and passes in fp32 (runner/trainer/context_parallel/ruled_attention.cpp).
#pragma once

#include "core/program/allocations.h"

#include <vector>

namespace fourfold {

// What none of them takes, in words; null: one takes the plan's attention, or another trainer or kernel computes it.
const char* without_fused_attention(const ResolvedPlan& plan);
// The share of the layers of such a row that is computed so.
double attended_by_blocks(const ResolvedPlan& plan, const AttentionRow& row);

// How many times as long as the plan's products take those in 32 bits.
double times_of_exact_products(const ResolvedPlan& plan);

// Of `layers`, with a window or without.
void add_block_attention(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank,
    const AttentionRow& row, double layers, bool windowed, double recompute);

// What a pass over such a layer holds at once beside its results; 0 where there is none.
template <typename Number>
Number block_attention_bytes(const ResolvedPlan& plan, const RankShape& rank, bool backward);

} // namespace fourfold
