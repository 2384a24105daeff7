// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/sharding_operations.h"

#include <algorithm>
#include <utility>

namespace fourfold {
namespace {

Operation reduction(const char* name, GroupKind group, Collective collective, double bytes, double repeat)
{
    Operation op;
    op.kind = OperationKind::collective;
    op.phase = Phase::step;
    op.part = Part::dp;
    op.group = group;
    op.collective = collective;
    op.name = name;
    op.bytes = bytes;
    op.repeat = repeat;
    op.in_layer = false;
    op.latency = Constant::gradient_latency_s;
    op.scale = Constant::gradient_scale;
    return op;
}

// An all-reduce outside the buckets of the gradient reduction: at the price of any collective.
Operation plain_sum(const char* name, GroupKind group, Part part, double bytes)
{
    Operation op = reduction(name, group, Collective::all_reduce, bytes, 1);
    op.part = part;
    op.latency = Constant::collective_latency_s;
    op.scale = Constant::one;
    return op;
}

void hide(Operation& op, Window window, bool allowed)
{
    if (!allowed)
        return;
    op.overlappable = true;
    op.window = window;
    op.window_share = Constant::gradient_overlap;
    op.exposed_floor = Constant::gradient_exposed_floor;
}

// DDP and ZeRO-1 (arXiv:1910.02054): gradients once a step, then the updated weights.
void add_replicated(
    std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, const StageParameters& parameters)
{
    const Training& training = plan.training;
    const Constants& constants = rank.constants;
    const bool states_sharded = training.sharding != Sharding::none;
    const bool scatter = states_sharded && constants[Constant::zero1_all_reduce] < 0.5;
    const auto add = [&](const char* what, const char* gather_name, GroupKind group, double count, double copies) {
        if (count <= 0 || copies <= 1)
            return;
        if (training.sharding != Sharding::gradients) {
            Operation gradients = reduction(what, group, scatter ? Collective::reduce_scatter : Collective::all_reduce,
                count * rank.gradient_bytes, 1);
            hide(gradients, Window::backward_pass, training.overlap.grad_reduce);
            gradients.note = "overlaps with the last micro-batch's backward";
            list.push_back(std::move(gradients));
        }
        if (states_sharded) {
            Operation weights = reduction(gather_name, group, Collective::all_gather, count * rank.element_bytes, 1);
            hide(weights, Window::forward_pass, training.overlap.param_gather);
            weights.note = "overlaps with the first micro-batch's forward";
            list.push_back(std::move(weights));
        }
    };
    add("gradient reduction", "parameter gather", GroupKind::dp_cp, parameters.dense,
        double(plan.layout.dp) * plan.layout.cp);
    add("expert gradient reduction", "expert parameter gather", GroupKind::expert_dp, parameters.experts,
        expert_copies(plan));
}

// FSDP under pipeline parallelism: gathered and reduced once a step, not per micro-batch.
void add_sharded_pipeline(
    std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, const StageParameters& parameters)
{
    if (parameters.layer_count < 1)
        return;
    const auto group = plan.training.sharding == Sharding::hybrid ? GroupKind::dp_shard : GroupKind::dp_cp;
    const double per_layer = parameters.layers / parameters.layer_count;
    const auto add = [&](const char* name, Collective collective, double bytes, double repeat) {
        Operation op = reduction(name, group, collective, bytes, repeat);
        op.latency = Constant::fsdp_latency_s;
        op.scale = Constant::fsdp_pipeline_scale;
        list.push_back(std::move(op));
    };
    const Constants& constants = rank.constants;
    const double gathers = constants[Constant::fsdp_pipeline_gathers];
    add("fsdp parameter gather", Collective::all_gather, per_layer * rank.element_bytes,
        gathers * parameters.layer_count);
    add("fsdp gradient reduction", Collective::reduce_scatter, per_layer * rank.gradient_bytes, parameters.layer_count);
    const double root = parameters.dense - parameters.layers;
    if (root <= 0 || constants[Constant::fsdp_pipeline_root] < 0.5)
        return;
    add("fsdp root parameter gather", Collective::all_gather, root * rank.element_bytes, gathers);
    add("fsdp root gradient reduction", Collective::reduce_scatter, root * rank.gradient_bytes, 1);
}

// ZeRO-Offload (arXiv:2101.06840): gradients to the host, the update there, weights back.
void add_optimizer_offload(std::vector<Operation>& list, const RankShape& rank, double own)
{
    Operation op;
    op.kind = OperationKind::host;
    op.phase = Phase::step;
    op.part = Part::optimizer;
    op.in_layer = false;
    op.name = "gradients to the host, weights back";
    op.note = "ZeRO-Offload, arXiv:2101.06840, figure 3";
    op.constant = Constant::host_transfer_s_per_gb;
    op.m = own * (rank.gradient_bytes + rank.element_bytes) / 1e9;
    list.push_back(op);
    op.name = "optimizer on the host";
    op.constant = Constant::host_update_s_per_gb;
    op.m = own * rank.constants[Constant::optimizer_shard_bytes] / 1e9;
    list.push_back(op);
}

// Gradients of what several tp ranks hold and each of them computes a part of.
void add_shared_gradients(
    std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, const StageParameters& parameters)
{
    if (rank.constants[Constant::shared_gradient_sums] < 0.5 || plan.layout.tp <= 1)
        return;
    const double owned = rank.gradient_bytes / sharded(plan).states;
    const auto add = [&](const char* name, GroupKind group, double count, const char* note) {
        Operation sum = plain_sum(name, group, Part::tp, count * owned);
        sum.note = note;
        list.push_back(std::move(sum));
    };
    if (plan.training.sequence_parallel)
        add("tp sum of replicated gradients", GroupKind::tp, parameters.replicated,
            "norms see their rank's part of the sequence, arXiv:2205.05198 section 4.2.2");
    if (key_copies(plan) > 1)
        add("tp sum of shared key and value gradients", GroupKind::tp_keys, parameters.keys,
            "ranks that hold copies of the same heads");
}

// One number over the ranks that hold different parameters; then every stage waits for the slowest.
void add_gradient_norm(std::vector<Operation>& list, const ResolvedPlan& plan, const Constants& constants)
{
    if (const double scalars = constants[Constant::step_scalars]; scalars > 0) {
        Operation all = plain_sum("step scalars", GroupKind::world, Part::other, 8 * scalars);
        all.note = "gradient norm, loss, number of labels and the wish to stop, in fp64 and in one message";
        list.push_back(std::move(all));
        return;
    }
    const auto add = [&](GroupKind group, Part part, bool needed) {
        if (!needed)
            return;
        list.push_back(plain_sum("gradient norm", group, part, 4));
    };
    const Layout& layout = plan.layout;
    add(GroupKind::tp_pp, Part::tp, layout.tp > 1);
    add(GroupKind::dp_cp, Part::dp, plan.training.sharding != Sharding::none && layout.dp * layout.cp > 1);
}

} // namespace

bool fully_sharded(const Training& training)
{
    return training.sharding == Sharding::parameters || training.sharding == Sharding::hybrid;
}

double expert_copies(const ResolvedPlan& plan)
{
    const Layout& layout = plan.layout;
    return std::max(1.0, double(layout.tp) * layout.cp * layout.dp / (double(layout.ep) * layout.etp));
}

Sharded sharded(const ResolvedPlan& plan)
{
    Sharded result;
    const double copies = double(plan.layout.dp) * plan.layout.cp;
    const double experts = expert_copies(plan);
    const auto hybrid = [&](double ranks) { return std::min<double>(ranks, plan.layout.dp_shard); };
    switch (plan.training.sharding) {
    case Sharding::none:
        break;
    case Sharding::hybrid:
        result = {hybrid(copies), hybrid(copies), hybrid(copies), hybrid(experts), hybrid(experts), hybrid(experts)};
        break;
    case Sharding::parameters:
        result.weights = copies;
        result.expert_weights = experts;
        [[fallthrough]];
    case Sharding::gradients:
        result.gradients = copies;
        result.expert_gradients = experts;
        [[fallthrough]];
    case Sharding::optimizer:
        result.states = copies;
        result.expert_states = experts;
        break;
    }
    return result;
}

void add_micro_batch_sharding(
    std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, const StageParameters& parameters)
{
    const Training& training = plan.training;
    const bool fsdp = fully_sharded(training);
    if (!fsdp && training.sharding != Sharding::gradients)
        return;
    if (fsdp && plan.layout.pp > 1)
        return; // once a step, see add_step_operations
    const auto group = training.sharding == Sharding::hybrid ? GroupKind::dp_shard : GroupKind::dp_cp;
    const auto add = [&](const std::string& name, GroupKind ranks, Phase phase, Collective collective, double bytes,
                         double units, bool overlap) {
        if (bytes <= 0 || units <= 0)
            return;
        Operation op = reduction(name.c_str(), ranks, collective, bytes, units);
        op.phase = phase;
        op.latency = Constant::fsdp_latency_s;
        op.scale = Constant::one;
        if (overlap) {
            op.overlappable = true;
            op.window = Window::layer;
            op.exposed_floor = Constant::fsdp_exposed_floor;
            op.note = "prefetched while the layer before it computes";
        }
        list.push_back(std::move(op));
    };
    const auto add_unit = [&](const std::string& what, GroupKind ranks, double count, double units, bool overlap) {
        if (fsdp) {
            add(what + " parameter gather", ranks, Phase::forward, Collective::all_gather, count * rank.element_bytes,
                units, overlap && training.fsdp.prefetch);
            if (training.fsdp.reshard_after_forward)
                add(what + " parameter gather, repeated", ranks, Phase::backward, Collective::all_gather,
                    count * rank.element_bytes, units, overlap && training.fsdp.prefetch);
        }
        add(what + " gradient reduction", ranks, Phase::backward, Collective::reduce_scatter,
            count * rank.gradient_bytes, units, overlap && training.overlap.grad_reduce);
    };
    const std::string what = fsdp ? "fsdp" : "zero-2";
    if (parameters.layer_count > 0) {
        const double units = std::max(1.0, double(parameters.layer_count) / std::max(1, training.fsdp.layers_per_unit));
        add_unit(what, group, parameters.layers / units, units, true);
        add_unit(what + " expert", GroupKind::expert_dp, parameters.experts / units, units, true);
    }
    // The first gather of a pass has nothing to hide behind: embedding and head.
    add_unit(what + " root", group, parameters.dense - parameters.layers, 1, false);
}

void add_step_operations(
    std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, const StageParameters& parameters)
{
    const Layout& layout = plan.layout;
    if (!fully_sharded(plan.training))
        add_replicated(list, plan, rank, parameters);
    else if (layout.pp > 1)
        add_sharded_pipeline(list, plan, rank, parameters);
    if (plan.training.sharding == Sharding::hybrid) {
        Operation replicas = reduction("gradient sum over the copies of a shard", GroupKind::dp_replicate,
            Collective::all_reduce, parameters.total() / sharded(plan).gradients * rank.gradient_bytes, 1);
        replicas.note = "HSDP: reduce-scatter inside a shard group, all-reduce between them";
        hide(replicas, Window::backward_pass, plan.training.overlap.grad_reduce);
        list.push_back(std::move(replicas));
    }
    if (parameters.tied > 0 && layout.pp > 1) {
        Operation tied = reduction(
            "tied embedding gradient", GroupKind::pp, Collective::all_reduce, parameters.tied * rank.gradient_bytes, 1);
        tied.note = "first and last stage hold copies of the embedding";
        tied.batch = 2; // ranks that take part, whatever the pipeline's length
        list.push_back(std::move(tied));
    }
    add_shared_gradients(list, plan, rank, parameters);
    const Sharded split = sharded(plan);
    const Constants& constants = rank.constants;
    const double own = parameters.dense / split.states + parameters.experts / split.expert_states;
    const double local = fully_sharded(plan.training) ? 0 : parameters.total();
    Operation update;
    update.kind = OperationKind::optimizer;
    update.phase = Phase::step;
    update.part = Part::optimizer;
    update.name = "optimizer";
    update.in_layer = false;
    update.m = own;
    const bool offloaded = plan.training.offload == Offload::optimizer;
    update.bytes = (offloaded ? 0 : own) * constants[Constant::optimizer_shard_bytes]
        + local * constants[Constant::optimizer_local_bytes];
    update.note
        = "reads gradient and states, writes states and weights; gradient norm and clearing over local parameters";
    list.push_back(std::move(update));
    if (offloaded)
        add_optimizer_offload(list, rank, own);
    if (layout.gpus() > 1)
        add_gradient_norm(list, plan, constants);
    Operation fixed;
    fixed.kind = OperationKind::host;
    fixed.phase = Phase::step;
    fixed.part = Part::other;
    fixed.name = "step overhead";
    fixed.constant = Constant::step_overhead_s;
    fixed.m = 1;
    fixed.in_layer = false;
    fixed.note = "data, logging, clipping, synchronisation";
    list.push_back(std::move(fixed));
}

} // namespace fourfold
