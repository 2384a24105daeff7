// SPDX-License-Identifier: GPL-3.0-or-later
// What occupies a GPU's memory, and for how long.
#pragma once

#include "core/program/operation.h"
#include "core/program/rank_shape.h"
#include "core/program/sharding_operations.h"

namespace fourfold {

// Lifetime::step: weights, gradients, optimizer states, buffers of fully sharded units, library workspaces.
std::vector<Allocation> state_allocations(
    const ResolvedPlan& plan, const RankShape& rank, const StageParameters& parameters);

// One micro-batch of a chunk with `dense` and `moe` layers: kept activations, recomputation workspace, logits.
std::vector<Allocation> chunk_allocations(const ResolvedPlan& plan, const RankShape& rank, int dense_layers,
    int moe_layers, double recompute_layers, bool embedding, bool head);

// Bytes of activations that one layer keeps without recomputation (Korthikanti et al., arXiv:2205.05198, table 2, with
// GQA, gated MLP and fused attention: 2 M (4 h / sp + (2 q + 2 kv + 3 f) / tp)).
double layer_activation_bytes(const ResolvedPlan& plan, const RankShape& rank, bool moe);

} // namespace fourfold
