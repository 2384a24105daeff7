// SPDX-License-Identifier: GPL-3.0-or-later
// What data parallelism and sharded states add: gradient reduction, parameter gathers, the optimizer.
#pragma once

#include "core/program/operation.h"
#include "core/program/rank_shape.h"

namespace fourfold {

// Parameters of one rank, split by the group that holds their copies.
struct StageParameters {
    double dense = 0; // copies over dp x cp
    double experts = 0; // copies over expert_dp
    double layers = 0; // dense parameters of the layers alone (without embedding and head)
    double largest_unit = 0; // largest FSDP unit: one layer, or embedding or head
    double largest_layer = 0; // with its experts
    // With what a backward pass begins: the head and its norm or, where the head is the embedding, both ends; and what
    // of that is there until the pass has ended.
    double rear_unit = 0, lasting_unit = 0;
    double largest_tensor = 0; // of one weight: what an optimizer that is not fused works on at once
    int layer_count = 0, dense_layers = 0, moe_layers = 0; // the first: all of them
    double muon = 0, expert_muon = 0; // of `dense` and `experts`, what Muon updates (core/program/muon.h)
    double replicated = 0; // of the dense ones, what every tp rank holds whole
    double keys = 0; // of the layers' keys and values
    double tied = 0; // embedding parameters that first and last stage both hold
    [[nodiscard]] double total() const { return dense + experts; }
};

// Ranks over which states are sharded (1 = whole) and over which gradients are summed.
struct Sharded {
    double states = 1, gradients = 1, weights = 1; // divisors of dense parameters
    double expert_states = 1, expert_gradients = 1, expert_weights = 1;
};
Sharded sharded(const ResolvedPlan& plan);
// Micro-batches whose backwards go through a chunk before the stage turns to another one.
int micro_batches_together(const ResolvedPlan& plan);
double expert_copies(const ResolvedPlan& plan);
bool fully_sharded(const Training& training); // FSDP, ZeRO-3 or HSDP
// Do fully sharded weights come once a step, and stay from the first forward to the last backward? Where passes over
// several micro-batches overlap, unless they are to come for each of them.
bool gathered_once_a_step(const ResolvedPlan& plan);
// Are the gradients of each micro-batch reduced as they come, so that a rank adds up its own part alone?
bool reduced_each_micro_batch(const ResolvedPlan& plan);
// With an optimizer in the backward pass of a step's only micro-batch no gradient waits for another one.
bool gradients_go_at_once(const Training& training);

// Once a step: reduction, gather, tied embeddings, optimizer, the stack's fixed cost.
void add_step_operations(
    std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, const StageParameters& parameters);
// Per micro-batch: FSDP gathers and reductions, unless they come once a step; ZeRO-2 reductions.
void add_micro_batch_sharding(
    std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, const StageParameters& parameters);

// Do matrices of fully sharded layers come in 8 bits? Where a tensor has one scale that all ranks know.
bool gathers_fp8(const Training& training, const Layout& layout);

} // namespace fourfold
