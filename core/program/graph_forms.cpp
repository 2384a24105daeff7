// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/graph_forms.h"

#include "core/plan/graphed_layers.h"
#include "core/program/allocation_list.h"
#include "core/program/backward_memory.h"

namespace fourfold {

double graphed_layers(const ResolvedPlan& plan, const ChunkShape& shape)
{
    return graphed_layers(plan, shape.first_layer, shape.layers, shape.recompute_layers);
}

// at::cuda::getChosenWorkspaceSize() of LibTorch 2.11: one size for compute capability 9.0, one for all others. An H200
// showed both workspaces of 32 MiB (tests/bench/README.md).
double product_workspace(const Gpu& gpu)
{
    constexpr double kKiB = 1024;
    return gpu.generation == "hopper" ? 8 * 4096 * kKiB : (2 * 4096 + 8 * 16) * kKiB;
}

template <typename Number>
void add_graphs_of_a_chunk(
    std::vector<AllocationOf<Number>>& list, const ResolvedPlan& plan, const RankShape& rank, const ChunkShape& shape)
{
    if (graphed_layers(plan, shape) <= 0)
        return;
    // The gradients of a layer come together, and are added up before the layer in front of it begins.
    const Number gradients
        = input<Number>("parameters of a layer", rank.layer(false).matrices(0) + rank.layer(false).vectors)
        * input<Number>("bytes", rank.element_bytes);
    add_allocation<Number>(list, MemoryKind::activations, Lifetime::micro_batch,
        2 * part("input of a layer", layer_input_bytes<Number>(rank)) + gradients, "buffers of CUDA graphs",
        "what goes into the recorded layers forward and backward, and the weight gradients of one");
    // A pool is a set's: the gradients within a layer are there once more for each but the last that is under way.
    if (plan.layout.pp > 1)
        add_allocation<Number>(list, MemoryKind::activations, Lifetime::micro_batch,
            backward_bytes<Number>(plan, rank, false), "gradients within recorded layers",
            "each micro-batch under way has graphs of its own, and these their memory");
}

template <typename Number>
void add_graphs_of_a_rank(std::vector<AllocationOf<Number>>& list, const ResolvedPlan& plan)
{
    constexpr double kThreads = 2; // of the forward and of the backward pass
    if (wants_graphs(plan) && why_no_graphs(plan).empty())
        add_allocation<Number>(list, MemoryKind::other, Lifetime::step,
            kThreads * input<Number>("bytes", product_workspace(plan.cluster.gpu)), "workspaces of recorded products",
            "the stream of the recordings has its own");
}

template void add_graphs_of_a_chunk(std::vector<Allocation>&, const ResolvedPlan&, const RankShape&, const ChunkShape&);
template void add_graphs_of_a_chunk(
    std::vector<AllocationOf<Formula>>&, const ResolvedPlan&, const RankShape&, const ChunkShape&);
template void add_graphs_of_a_rank(std::vector<Allocation>&, const ResolvedPlan&);
template void add_graphs_of_a_rank(std::vector<AllocationOf<Formula>>&, const ResolvedPlan&);

} // namespace fourfold
