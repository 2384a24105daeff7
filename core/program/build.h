// SPDX-License-Identifier: GPL-3.0-or-later
// The parts that build_program() puts together, for a search that builds only the stages that differ.
#pragma once

#include "core/program/operation.h"
#include "core/program/sharding_operations.h"

namespace fourfold {

// Which part of the model a chunk holds.
struct ChunkShape {
    int chunk = 0, first_layer = 0, layers = 0;
    bool embedding = false, head = false;
    double recompute_layers = 0; // of `layers`
};

// The operations and allocations of one micro-batch on one chunk; adds the chunk's parameters to the stage's.
ChunkProgram build_chunk(
    const ResolvedPlan& plan, const RankShape& rank, const ChunkShape& shape, StageParameters& parameters);
// What a stage does once a step and always holds. `parameters`: of all its chunks.
void finish_stage(
    StageProgram& stage, const ResolvedPlan& plan, const RankShape& rank, const StageParameters& parameters);

// Of `layers` layers from `first`, those with a dense MLP: the others are mixtures of experts.
int dense_layers(const ModelShape& model, int first, int layers);

} // namespace fourfold
