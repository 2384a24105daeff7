// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/gradients_on_their_way.h"

#include "core/program/backward_memory.h"

#include <algorithm>

namespace fourfold {

namespace {
constexpr const char* kFreed = "optimizer in backward: freed as soon as they have updated their weights";
}

bool units_of_chunks(const ResolvedPlan& plan)
{
    return plan.layout.pp > 1 && plan.training.fsdp.each_micro_batch && fully_sharded(plan.training)
        && sharded(plan).weights > 1;
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

namespace {
// A chunk of a pipeline whose fully sharded units come and go for each micro-batch: the unit in use and the prefetched
// one, and gradients that are filled or being reduced.
template <typename Number>
void add_units_of_a_chunk(std::vector<AllocationOf<Number>>& list, const ResolvedPlan& plan, const RankShape& rank,
    const ChunkShape& shape, bool moe)
{
    const Training& training = plan.training;
    const Number width = input<Number>("bytes of a gradient", rank.gradient_bytes);
    const Number element = input<Number>("bytes", rank.element_bytes);
    const double layer = rank.layer(moe).matrices(rank.local_experts) + rank.layer(moe).vectors;
    const int of_unit = std::min(std::max(1, training.fsdp.layers_per_unit), shape.layers);
    const Number unit = input<Number>("parameters of a unit", layer * of_unit);
    const Number rear
        = input<Number>("parameters behind the layers", shape.head ? head_parameters(plan.model, rank) : 0);
    const Number front
        = input<Number>("parameters before the layers", shape.embedding ? embedding_parameters(plan.model, rank) : 0);
    const auto add = [&](MemoryKind kind, Lifetime lifetime, const Number& bytes, const char* name, const char* note) {
        if (value_of(bytes) > 0)
            list.push_back({kind, lifetime, bytes, name, note});
    };
    if (!gathered_once_a_step(plan)) {
        const Number units = element * (shape.layers > of_unit ? 2.0 : 1.0) * unit;
        for (const Lifetime pass : {Lifetime::forward, Lifetime::backward})
            add(MemoryKind::weights, pass, units, "gathered units", "the unit in use and the prefetched one");
        add(MemoryKind::weights, Lifetime::loss, element * (unit + rear), "gathered units",
            "the head's and that of the last layers");
    }
    if (!reduced_each_micro_batch(plan) || traits_of(training.schedule).splits_backward)
        return; // whole: a stage's
    const Number one = width * unit;
    const Number before = shape.embedding ? one + width * front : 2.0 * one;
    const char* note = "on their way since the backward pass before";
    add(MemoryKind::gradients, Lifetime::forward, before, "gradients of units", note);
    if (shape.head)
        add(MemoryKind::gradients, Lifetime::loss, before + element * rear, "gradients of units", note);
    // A layer is made again before the first gradient of a pass, which waits for those on their way. Later ones wait
    // for their reduction as activations are freed.
    const Number whole = layer_activation_bytes<Number>(plan, rank, moe);
    const Number slopes = backward_bytes<Number>(plan, rank, moe);
    Number freed = whole, again = slopes;
    if (training.recompute == Recompute::full) {
        freed = layer_input_bytes<Number>(rank);
        again = again + whole;
    } else if (training.recompute == Recompute::selective) {
        freed = freed - freed_selectively<Number>(plan, rank, moe, whole);
    }
    Number later = width * rear + one, most = larger(before - slopes, later);
    for (double filled = 2; filled < rank.constants[Constant::gradient_buffers]; ++filled) {
        later = later + one - freed;
        most = larger(most, later);
    }
    if (shape.embedding) // its gradient, as the product gives it and as it is reduced
        most = larger(most, (element + width) * front + 2.0 * one - double(shape.layers) * freed - again);
    add(MemoryKind::gradients, Lifetime::backward, most, "gradients of units",
        "those that are filled or being reduced, less the activations that are gone by then");
}
} // namespace

template <typename Number>
void add_gradients_on_their_way(std::vector<AllocationOf<Number>>& list, const ResolvedPlan& plan,
    const RankShape& rank, const ChunkShape& shape, bool moe)
{
    if (is_our_trainer(rank.constants) && units_of_chunks(plan))
        add_units_of_a_chunk(list, plan, rank, shape, moe);
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
