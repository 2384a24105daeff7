// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/allocations.h"

#include "core/plan/plan_schedule.h"
#include "core/program/allocation_list.h"
#include "core/program/gradients_on_their_way.h"
#include "core/program/graph_forms.h"
#include "core/program/muon.h"

#include <algorithm>

namespace fourfold {
namespace {

constexpr const char* kZero = "Rajbhandari et al., arXiv:1910.02054: what data parallel ranks share out";

template <typename Number>
void add_gathered_weights(
    std::vector<AllocationOf<Number>>& list, const RankShape& rank, const StageParameters& parameters)
{
    add_allocation<Number>(list, MemoryKind::weights, Lifetime::step,
        input<Number>("parameters", parameters.total()) * input<Number>("bytes", rank.element_bytes),
        "gathered weights", "kept from the first forward to the last backward where passes over micro-batches overlap");
}

// What is whole for a while where parts are kept, of a trainer that reduces gradients in place
// (Constant::gradient_buffers).
template <typename Number>
void add_buffers(std::vector<AllocationOf<Number>>& list, const ResolvedPlan& plan, const RankShape& rank,
    const StageParameters& parameters)
{
    const Training& training = plan.training;
    const Sharded split = sharded(plan);
    const Number width = input<Number>("bytes of a gradient", rank.gradient_bytes);
    const double buffers = rank.constants[Constant::gradient_buffers];
    if (training.sharding == Sharding::gradients && split.gradients > 1 && !gradients_go_at_once(training)) {
        const Number tensor = input<Number>("one matrix of a layer", rank.hidden * rank.ffn / rank.tp);
        add_allocation<Number>(list, MemoryKind::gradients, Lifetime::step,
            width * (input<Number>("the largest weight", parameters.largest_tensor) + (buffers - 1) * tensor),
            "gradients before their reduction", "of a micro-batch: what is filled and what is being reduced");
    }
    if (!fully_sharded(training) || split.weights <= 1)
        return;
    const Number element = input<Number>("bytes", rank.element_bytes);
    const Number unit = input<Number>("parameters of a unit",
        parameters.largest_layer * std::min(std::max(1, training.fsdp.layers_per_unit), parameters.layer_count));
    const Number rear = input<Number>("parameters behind the layers", parameters.rear_unit);
    const Number units = constant_input<Number>(rank, Constant::fsdp_unit_buffers);
    if (gathered_once_a_step(plan))
        add_gathered_weights(list, rank, parameters);
    else if (plan.layout.pp == 1)
        add_allocation<Number>(list, MemoryKind::weights, Lifetime::step,
            element * larger(units * unit + input<Number>("shared by both ends", parameters.lasting_unit), unit + rear),
            "gathered units",
            "the unit in use and the prefetched one; the head's from the forward to the backward pass");
    // Of a split backward pass some gradients come before a matrix's, and make the room for all of their unit.
    const bool split_pass = plan.layout.pp > 1 && traits_of(training.schedule).splits_backward;
    if (!reduced_each_micro_batch(plan) || split_pass) {
        const double others
            = parameters.dense * (1 - 1 / split.gradients) + parameters.experts * (1 - 1 / split.expert_gradients);
        if (!gradients_go_at_once(training))
            add_allocation<Number>(list, MemoryKind::gradients, Lifetime::step,
                input<Number>("parameters of others", others) * width, "unsharded gradients",
                "kept until the last micro-batch, or a split backward pass's second half");
        return;
    }
    if (plan.layout.pp > 1)
        return; // they are a chunk's: see add_units_of_a_chunk()
    // At the loss there are the last gradients of the micro-batch before, on their way since then, and the head's own
    // as its product gives it. Without the logits, gradients wait for their reduction as activations are freed.
    const bool moe = plan.model.experts.has_value();
    Number freed = layer_activation_bytes<Number>(plan, rank, moe);
    if (training.recompute == Recompute::full)
        freed = layer_input_bytes<Number>(rank);
    else if (training.recompute == Recompute::selective)
        freed = freed - freed_selectively<Number>(plan, rank, moe, freed);
    const Number one = width * unit;
    Number at_loss = element * rear;
    if (training.micro_batches > 1)
        at_loss += one
            + width
                * input<Number>("parameters before the layers",
                    parameters.dense - parameters.layers - (parameters.lasting_unit > 0 ? 0 : parameters.rear_unit));
    Number later = width * rear + one - logits_bytes<Number>(plan, rank), most = larger(at_loss, later);
    for (double filled = 2; filled < buffers; ++filled) {
        later = later + one - freed;
        most = larger(most, later);
    }
    add_allocation<Number>(list, MemoryKind::gradients, Lifetime::step, most, "gradients of units",
        "those that are filled or being reduced, less the logits or activations that are gone by then");
}

} // namespace

template <typename Number>
std::vector<AllocationOf<Number>> state_allocations(
    const ResolvedPlan& plan, const RankShape& rank, const StageParameters& parameters)
{
    const Sharded split = sharded(plan);
    const bool fsdp = fully_sharded(plan.training);
    const bool mixed = plan.training.precision != Precision::fp32;
    // Fully sharded weights are the fp32 masters themselves; else masters belong to the optimizer's states.
    const double weight_bytes = fsdp && mixed ? 4 : rank.element_bytes;
    const double state_bytes = 2 * rank.state_bytes + (mixed && !fsdp ? 4 : 0);
    const char* dense = parameters.experts > 0 ? "dense parameters" : "parameters";
    const auto size = [&](double bytes, double dense_split, double expert_split) -> Number {
        return input<Number>("bytes", bytes)
            * (input<Number>(dense, parameters.dense) / input<Number>("shards", dense_split)
                + input<Number>("parameters of experts", parameters.experts) / input<Number>("shards", expert_split));
    };
    const auto total
        = [&](const Number& bytes) -> Number { return input<Number>("parameters", parameters.total()) * bytes; };
    const Number element = input<Number>("bytes", rank.element_bytes);
    std::vector<AllocationOf<Number>> list;
    add_allocation<Number>(list, MemoryKind::weights, Lifetime::step,
        size(weight_bytes, split.weights, split.expert_weights)
            * constant_input<Number>(rank, Constant::weight_memory_scale),
        "weights", fsdp && mixed ? "fp32 masters" : "after TP, PP and EP");
    if (!gradients_go_at_once(plan.training))
        add_allocation<Number>(list, MemoryKind::gradients, Lifetime::step,
            size(rank.gradient_bytes, split.gradients, split.expert_gradients)
                * constant_input<Number>(rank, Constant::gradient_memory_scale),
            "gradients", split.gradients > 1 ? kZero : "");
    else
        add_gradients_of_a_unit(list, rank, parameters, split);
    if (plan.training.offload != Offload::optimizer) {
        Number states = size(state_bytes, split.states, split.expert_states);
        const bool under_muon = parameters.muon + parameters.expert_muon > 0;
        if (under_muon) // which have no variance
            states = states
                - input<Number>("bytes", rank.state_bytes)
                    * (input<Number>("matrices under Muon", parameters.muon) / input<Number>("shards", split.states)
                        + input<Number>("matrices of experts", parameters.expert_muon)
                            / input<Number>("shards", split.expert_states));
        add_allocation<Number>(list, MemoryKind::optimizer, Lifetime::step,
            states * constant_input<Number>(rank, Constant::optimizer_memory_scale), "optimizer states",
            !under_muon          ? (mixed && !fsdp ? "fp32 master weights, momentum, variance" : "momentum, variance")
                : mixed && !fsdp ? "fp32 master weights, momentum, and variance of what Muon does not update"
                                 : "momentum, and variance of what Muon does not update");
    }
    add_allocation<Number>(list, MemoryKind::optimizer, Lifetime::update,
        input<Number>("matrices of a round", muon_workspace(plan, rank, parameters)), "matrices in iteration",
        "Muon: what an owner gathers, and the products of its Newton-Schulz iteration");
    const bool unfused = plan.training.optimizer == Optimizer::adam || plan.training.optimizer == Optimizer::adamw;
    if (unfused && plan.training.offload != Offload::optimizer)
        add_allocation<Number>(list, MemoryKind::optimizer, Lifetime::step,
            constant_input<Number>(rank, Constant::unfused_optimizer_copies) * 4
                * input<Number>("elements", parameters.largest_tensor) / input<Number>("shards", split.states),
            "optimizer temporaries",
            "fp32 copies of the largest tensor in an update that is not fused; their blocks stay in the allocator's "
            "cache");
    if (is_our_trainer(rank.constants) && plan.training.grad_dtype == Precision::fp16)
        add_allocation<Number>(list, MemoryKind::gradients, Lifetime::update,
            size(4, split.states, split.expert_states), "gradients in fp32",
            "the loss scale would not come off in fp16");
    if (is_our_trainer(rank.constants)) {
        add_buffers(list, plan, rank, parameters);
    } else if (plan.training.sharding == Sharding::gradients && micro_batches_together(plan) > 1)
        add_allocation<Number>(list, MemoryKind::gradients, Lifetime::step,
            2 * total(input<Number>("bytes", rank.gradient_bytes))
                / input<Number>("chunks", plan.layout.virtual_stages),
            "unsharded gradients of a chunk",
            "summed over the micro-batches of a block, while those of the chunk before are reduced");
    else if (fsdp && split.weights > 1) {
        const Number unit = constant_input<Number>(rank, Constant::fsdp_unit_buffers)
            * input<Number>("parameters of the largest unit", parameters.largest_unit) * element;
        if (gathered_once_a_step(plan))
            add_gathered_weights(list, rank, parameters);
        else
            add_allocation<Number>(list, MemoryKind::weights, Lifetime::step, unit, "gathered units",
                "the unit in use and the prefetched one");
        if (reduced_each_micro_batch(plan))
            add_allocation<Number>(
                list, MemoryKind::gradients, Lifetime::step, unit, "unit gradients", "before their reduce-scatter");
        else
            add_allocation<Number>(list, MemoryKind::gradients, Lifetime::step,
                total(constant_input<Number>(rank, Constant::pipeline_gradient_bytes)), "unsharded gradients",
                "kept until the last micro-batch");
    }
    add_allocation<Number>(list, MemoryKind::other, Lifetime::step,
        constant_input<Number>(rank, Constant::framework_memory_gib) * input<Number>("bytes per GiB", kGib),
        "library workspaces");
    add_graphs_of_a_rank(list, plan);
    return list;
}

template std::vector<Allocation> state_allocations(const ResolvedPlan&, const RankShape&, const StageParameters&);
template std::vector<AllocationOf<Formula>> state_allocations(
    const ResolvedPlan&, const RankShape&, const StageParameters&);

} // namespace fourfold
