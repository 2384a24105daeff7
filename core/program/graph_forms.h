// SPDX-License-Identifier: GPL-3.0-or-later
// What layers that the bundled trainer records as CUDA graphs (core/plan/graphed_layers.h) take more and less. Counted,
// not fitted: tests/parity/rehearsed_graphs_test.cpp holds launches and memory to a rehearsal.
#pragma once

#include "core/hardware/cluster.h"
#include "core/program/allocations.h"
#include "core/program/build.h"

namespace fourfold {

// Calls of the host for a layer of the Llama family, forward and backward, over all launches of its fused form.
inline constexpr double kGraphCalls = 2 / 51.0;

// Of a chunk, those that are recorded.
double graphed_layers(const ResolvedPlan& plan, const ChunkShape& shape);

// Bytes that cuBLAS takes of LibTorch's allocator for each thread and stream that call it.
double product_workspace(const Gpu& gpu);

// Of a chunk: what its graphs hold of each micro-batch under way beside the activations.
template <typename Number = double>
void add_graphs_of_a_chunk(
    std::vector<AllocationOf<Number>>& list, const ResolvedPlan& plan, const RankShape& rank, const ChunkShape& shape);
// Of a rank that records layers.
template <typename Number = double>
void add_graphs_of_a_rank(std::vector<AllocationOf<Number>>& list, const ResolvedPlan& plan);

} // namespace fourfold
