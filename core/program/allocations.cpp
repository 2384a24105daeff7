// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/allocations.h"

#include <algorithm>

namespace fourfold {
namespace {

void add(std::vector<Allocation>& list, MemoryKind kind, Lifetime lifetime, double bytes, const char* name,
    const char* note = "")
{
    if (bytes > 0)
        list.push_back({kind, lifetime, bytes, name, note});
}

bool has_score_matrix(const Training& training)
{
    return training.attention == AttentionKernel::unfused || training.attention == AttentionKernel::fused_softmax;
}

} // namespace

double layer_activation_bytes(const ResolvedPlan& plan, const RankShape& rank, bool moe)
{
    const Constants& constants = rank.constants;
    const double attention = (rank.query + rank.output) / rank.tp + rank.key_local + rank.value_local;
    const double mlp_tensors = plan.model.gated() ? 3 : 2; // gate, up and product; or input and output of GELU
    double mlp = mlp_tensors * rank.ffn / rank.tp;
    double routed = 0;
    if (moe) {
        const double rows = rank.expert_rows * rank.local_experts / rank.tokens;
        mlp = mlp_tensors * (rows * rank.expert_ffn / rank.expert_tp + rank.shared_ffn / rank.tp);
        routed = 2 * rank.routed_tokens * rank.hidden * rank.element_bytes; // permuted inputs and expert outputs
    }
    double hidden = constants[Constant::activation_hidden_factor] * rank.hidden / rank.sequence_split;
    if (rank.tp > 1)
        hidden += constants[Constant::activation_gathered_factor] * rank.hidden;
    double bytes = rank.tokens * rank.element_bytes * (hidden + attention + mlp) + routed;
    if (!plan.training.compile)
        bytes *= constants[Constant::eager_activation_factor];
    if (plan.training.async_tp && rank.tp > 1)
        bytes *= 1 - constants[Constant::async_tp_memory_saving];
    if (has_score_matrix(plan.training))
        bytes += (2 * rank.element_bytes + 1) * rank.sequences * rank.heads * rank.seq_len * rank.seq_len / rank.cp;
    return bytes;
}

std::vector<Allocation> state_allocations(
    const ResolvedPlan& plan, const RankShape& rank, const StageParameters& parameters)
{
    const Constants& constants = rank.constants;
    const Sharded split = sharded(plan);
    const bool fsdp = fully_sharded(plan.training);
    const bool mixed = plan.training.precision != Precision::fp32;
    // Fully sharded weights are the fp32 masters themselves; else masters belong to the optimizer's states.
    const double weight_bytes = fsdp && mixed ? 4 : rank.element_bytes;
    const double state_bytes = 2 * rank.state_bytes + (mixed && !fsdp ? 4 : 0);
    const auto size = [&](double bytes, double dense_split, double expert_split) {
        return bytes * (parameters.dense / dense_split + parameters.experts / expert_split);
    };
    std::vector<Allocation> list;
    add(list, MemoryKind::weights, Lifetime::step,
        size(weight_bytes, split.weights, split.expert_weights) * constants[Constant::weight_memory_scale], "weights");
    add(list, MemoryKind::gradients, Lifetime::step,
        size(rank.gradient_bytes, split.gradients, split.expert_gradients) * constants[Constant::gradient_memory_scale],
        "gradients");
    if (plan.training.offload != Offload::optimizer) {
        add(list, MemoryKind::optimizer, Lifetime::step,
            size(state_bytes, split.states, split.expert_states) * constants[Constant::optimizer_memory_scale],
            "optimizer states", mixed && !fsdp ? "fp32 master weights, momentum, variance" : "momentum, variance");
    }
    const bool unfused = plan.training.optimizer == Optimizer::adam || plan.training.optimizer == Optimizer::adamw;
    if (unfused && plan.training.offload != Offload::optimizer)
        add(list, MemoryKind::optimizer, Lifetime::step,
            constants[Constant::unfused_optimizer_copies] * 4 * parameters.largest_tensor / split.states,
            "optimizer temporaries",
            "fp32 copies of the largest tensor in an update that is not fused; their blocks stay in the allocator's "
            "cache");
    if (fsdp && split.weights > 1) {
        if (plan.layout.pp > 1) {
            add(list, MemoryKind::weights, Lifetime::step, parameters.total() * rank.element_bytes, "gathered weights",
                "kept from the first forward to the last backward under pipeline parallelism");
            add(list, MemoryKind::gradients, Lifetime::step,
                parameters.total() * constants[Constant::pipeline_gradient_bytes], "unsharded gradients",
                "kept until the last micro-batch");
        } else {
            const double units = constants[Constant::fsdp_unit_buffers];
            add(list, MemoryKind::weights, Lifetime::step, units * parameters.largest_unit * rank.element_bytes,
                "gathered units", "the unit in use and the prefetched one");
            add(list, MemoryKind::gradients, Lifetime::step, units * parameters.largest_unit * rank.element_bytes,
                "unit gradients", "before their reduce-scatter");
        }
    }
    add(list, MemoryKind::other, Lifetime::step, constants[Constant::framework_memory_gib] * kGib,
        "library workspaces");
    return list;
}

std::vector<Allocation> chunk_allocations(const ResolvedPlan& plan, const RankShape& rank, int dense_layers,
    int moe_layers, double recompute_layers, bool embedding, bool head)
{
    const Constants& constants = rank.constants;
    const Training& training = plan.training;
    std::vector<Allocation> list;
    const double layers = dense_layers + moe_layers;
    if (layers > 0) {
        const double whole = dense_layers * layer_activation_bytes(plan, rank, false)
            + moe_layers * layer_activation_bytes(plan, rank, true);
        const double layer = whole / layers;
        const double input = rank.tokens * rank.hidden * rank.element_bytes / rank.sequence_split;
        const double again = std::min(recompute_layers, layers);
        double kept = whole;
        if (training.recompute == Recompute::full) {
            kept = (layers - again) * layer + again * input;
            add(list, MemoryKind::activations, Lifetime::backward, layer, "recomputed layer",
                "one layer's activations, rebuilt from its input");
        } else if (training.recompute == Recompute::selective) {
            double share = constants[Constant::selective_memory_share];
            double freed = layer * (1 - share);
            if (has_score_matrix(training))
                freed = std::max(freed,
                    (2 * rank.element_bytes + 1) * rank.sequences * rank.heads * rank.seq_len * rank.seq_len / rank.cp);
            kept = whole - again * freed;
            add(list, MemoryKind::activations, Lifetime::backward, freed, "recomputed part of a layer");
        }
        if (training.offload == Offload::activations)
            kept = std::min(kept, 2 * layer); // the layer in use and the one in transfer
        add(list, MemoryKind::activations, Lifetime::micro_batch, kept, "activations");
    }
    if (embedding)
        add(list, MemoryKind::activations, Lifetime::micro_batch,
            rank.tokens * rank.hidden * rank.element_bytes / rank.sequence_split, "embedding output");
    if (head) {
        const double logits
            = rank.tokens * rank.vocab / rank.tp * constants[Constant::logits_memory_bytes] * rank.element_bytes / 2;
        add(list, MemoryKind::activations, Lifetime::loss, logits, "logits", "logits, their fp32 copy and gradient");
        // Freed before the layers' backward; what is reserved stays.
        if (plan.stack.memory_convention != MemoryConvention::peak_allocated)
            add(list, MemoryKind::activations, Lifetime::backward, logits, "blocks of the logits",
                "the allocator keeps their blocks for the layers' backward");
    }
    return list;
}

} // namespace fourfold
