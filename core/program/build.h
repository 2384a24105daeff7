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
    int offload_layers = 0; // of `layers`, the first ones
};

// The chunks of the whole model, in its order; the recomputed and the offloaded layers of a stage are its first ones.
std::vector<ChunkShape> chunk_shapes(const ResolvedPlan& plan, const std::vector<int>& stage_of_chunk);

// What one micro-batch does and holds on one chunk, whatever the job around it: its layers, embedding and head. To this
// build_chunk adds what the job costs every pass, whatever the micro-batch: add_job_overheads
// (core/program/layer_operations.h) and add_micro_batch_sharding (core/program/sharding_operations.h).
ChunkProgram build_chunk_work(const ResolvedPlan& plan, const RankShape& rank, const ChunkShape& shape);
ChunkProgram build_chunk(const ResolvedPlan& plan, const RankShape& rank, const ChunkShape& shape);

// Adds a chunk's parameters to those of its stage.
void add_chunk_parameters(
    StageParameters& sum, const ResolvedPlan& plan, const RankShape& rank, const ChunkShape& shape);
// What a stage does once a step and always holds. `parameters`: of all its chunks.
void finish_stage(
    StageProgram& stage, const ResolvedPlan& plan, const RankShape& rank, const StageParameters& parameters);

// Of `layers` layers from `first`, those with a dense MLP: the others are mixtures of experts.
int dense_layers(const ModelShape& model, int first, int layers);

} // namespace fourfold
