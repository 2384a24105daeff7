// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/gradients_on_their_way.h"

#include <algorithm>

namespace fourfold {

namespace {
constexpr const char* kFreed = "optimizer in backward: freed as soon as they have updated their weights";
}

template <typename Number>
void add_gradients_of_a_unit(std::vector<AllocationOf<Number>>& list, const RankShape& rank,
    const StageParameters& parameters, const Sharded& split)
{
    if (!is_our_trainer(rank.constants))
        list.push_back({MemoryKind::gradients, Lifetime::step,
            input<Number>("bytes of a gradient", rank.gradient_bytes)
                * input<Number>("parameters of the largest unit", parameters.largest_unit)
                / input<Number>("shards", split.gradients),
            "gradients of a unit", kFreed});
}

template <typename Number>
void add_gradients_on_their_way(std::vector<AllocationOf<Number>>& list, const ResolvedPlan& plan,
    const RankShape& rank, const ChunkShape& shape, bool moe)
{
    if (!gradients_go_at_once(plan.training) || (fully_sharded(plan.training) && reduced_each_micro_batch(plan))
        || !is_our_trainer(rank.constants))
        return;
    constexpr double kBucket = 25 << 18; // elements: of the trainer's buckets of small tensors
    constexpr double kReduced = 2; // buckets that may be reduced beside the one that fills
    const Number width = input<Number>("bytes of a gradient", rank.gradient_bytes);
    if (shape.layers > 0) {
        const double layer = rank.layer(moe).matrices(rank.local_experts) + rank.layer(moe).vectors;
        const double tensor = std::min(layer, std::max(rank.mlp_inputs * rank.hidden * rank.ffn / rank.tp, kBucket));
        const double bucket = fully_sharded(plan.training)
            ? layer * std::min(plan.training.fsdp.layers_per_unit, shape.layers)
            : tensor;
        const double buckets = double(plan.layout.dp) * plan.layout.cp > 1 ? 1 + kReduced : 1;
        list.push_back({MemoryKind::gradients, Lifetime::backward,
            width * input<Number>("parameters of a bucket", bucket) * input<Number>("buckets", buckets),
            "gradients on their way", kFreed});
    }
    const bool of_both_ends = plan.model.tied_embeddings && plan.layout.pp == 1; // whose sum comes at the end
    if (shape.head && !of_both_ends)
        list.push_back({MemoryKind::gradients, Lifetime::backward,
            width * input<Number>("parameters behind the layers", head_parameters(plan.model, rank)),
            "gradients of the head", kFreed});
}

template void add_gradients_of_a_unit(
    std::vector<Allocation>&, const RankShape&, const StageParameters&, const Sharded&);
template void add_gradients_of_a_unit(
    std::vector<AllocationOf<Formula>>&, const RankShape&, const StageParameters&, const Sharded&);
template void add_gradients_on_their_way(
    std::vector<Allocation>&, const ResolvedPlan&, const RankShape&, const ChunkShape&, bool);
template void add_gradients_on_their_way(
    std::vector<AllocationOf<Formula>>&, const ResolvedPlan&, const RankShape&, const ChunkShape&, bool);

} // namespace fourfold
