// SPDX-License-Identifier: GPL-3.0-or-later
// What gradients take of a step whose optimizer works in the backward pass of its only micro-batch
// (gradients_go_at_once()): those that are not yet final, or being reduced. Number: as in core/program/allocations.h.
#pragma once

#include "core/program/allocations.h"

namespace fourfold {

// Do fully sharded units of a pipeline come or go for each micro-batch? What is there of them is then a chunk's.
bool units_of_chunks(const ResolvedPlan& plan);

// Lifetime::step, of stacks that do not tell how they hold gradients (Constant::gradient_buffers): one unit's.
template <typename Number = double>
void add_gradients_of_a_unit(std::vector<AllocationOf<Number>>& list, const RankShape& rank,
    const StageParameters& parameters, const Sharded& split);

// Lifetime::backward, of the trainer's buckets: one that fills, two that are reduced where the rank has replicas, and
// the head's, whose logits are gone by then. The embedding's come when all activations are gone. Of fully sharded
// units without a pipeline the buffers are there anyway (state_allocations()). Of a pipeline that gathers or reduces
// units for each micro-batch: these, whoever updates, in all passes.
template <typename Number = double>
void add_gradients_on_their_way(std::vector<AllocationOf<Number>>& list, const ResolvedPlan& plan,
    const RankShape& rank, const ChunkShape& shape, bool moe);

} // namespace fourfold
