// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/sharding_operations.h"

#include "core/plan/plan_schedule.h"
#include "core/program/allocations.h"
#include "core/program/muon.h"
#include "core/program/own_passes.h"
#include "core/program/plain_forms.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace fourfold {
namespace {

// At the price of the buckets of a gradient reduction.
Operation reduction(
    std::string name, GroupKind group, CollectiveKind kind, double bytes, double repeat, std::string_view note = {})
{
    return {.name = std::move(name),
        .phase = Phase::step,
        .part = Part::dp,
        .repeat = repeat,
        .in_layer = false,
        .scale = Constant::gradient_scale,
        .note = note,
        .work = Collective{.kind = kind, .group = group, .bytes = bytes, .latency = Constant::gradient_latency_s}};
}

// Of a unit of fully sharded states.
Operation unit_collective(
    std::string name, GroupKind group, CollectiveKind kind, double bytes, double repeat, Phase phase, Constant scale)
{
    Operation op = reduction(std::move(name), group, kind, bytes, repeat);
    op.phase = phase;
    op.scale = scale;
    std::get<Collective>(op.work).latency = Constant::fsdp_latency_s;
    return op;
}

// An all-reduce outside the buckets of the gradient reduction: at the price of any collective.
Operation plain_sum(const char* name, GroupKind group, Part part, double bytes, std::string_view note = {})
{
    return {.name = name,
        .phase = Phase::step,
        .part = part,
        .in_layer = false,
        .note = note,
        .work = Collective{.kind = Collective::all_reduce, .group = group, .bytes = bytes}};
}

Operation host_work(const char* name, Part part, Constant constant, double times, std::string_view note)
{
    return {.name = name,
        .phase = Phase::step,
        .part = part,
        .in_layer = false,
        .note = note,
        .work = HostCost{.constant = constant, .times = times}};
}

void hide(Operation& op, Window window, bool allowed)
{
    if (!allowed)
        return;
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
                count * rank.gradient_bytes, 1, "overlaps with the last micro-batch's backward");
            hide(gradients, Window::backward_pass, training.overlap.grad_reduce);
            list.push_back(std::move(gradients));
        }
        if (states_sharded) {
            Operation weights = reduction(gather_name, group, Collective::all_gather, count * rank.element_bytes, 1,
                "overlaps with the first micro-batch's forward");
            hide(weights, Window::forward_pass, training.overlap.param_gather);
            list.push_back(std::move(weights));
        }
    };
    add("gradient reduction", "parameter gather", GroupKind::dp_cp, parameters.dense,
        double(plan.layout.dp) * plan.layout.cp);
    add("expert gradient reduction", "expert parameter gather", GroupKind::expert_dp, parameters.experts,
        expert_copies(plan));
}

// Of an element of a layer when it is gathered. The constants of stacks that do not tell the sums behind their fp8
// scales hold for what they gather.
bool gathers_narrow_layers(const ResolvedPlan& plan, const RankShape& rank)
{
    return rank.constants[Constant::fp8_scale_sums] > 0 && gathers_fp8(plan.training, plan.layout);
}
double layer_bytes(const ResolvedPlan& plan, const RankShape& rank)
{
    return gathers_narrow_layers(plan, rank) ? bytes_per_element(Precision::fp8) : rank.element_bytes;
}

// FSDP where passes overlap, as under pipeline parallelism: what is gathered or reduced once a step, not per
// micro-batch.
void add_sharded_pipeline(
    std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, const StageParameters& parameters)
{
    if (parameters.layer_count < 1)
        return;
    const auto group = plan.training.sharding == Sharding::hybrid ? GroupKind::dp_shard : GroupKind::dp_cp;
    const double per_layer = parameters.layers / parameters.layer_count;
    const Constants& constants = rank.constants;
    const FsdpSettings& fsdp = plan.training.fsdp;
    const double of_unit = std::min(std::max(1, fsdp.layers_per_unit), parameters.layer_count);
    // The bundled trainer asks for what other micro-batches leave it the time to gather, or to reduce; for the first
    // unit's weights, and the last one's gradients, there is none.
    const auto add = [&](const std::string& name, CollectiveKind kind, double bytes, double repeat,
                         bool of_experts = false) {
        const bool gathers = kind == Collective::all_gather;
        const bool hides = is_our_trainer(constants) && (gathers ? fsdp.prefetch : plan.training.overlap.grad_reduce);
        const double alone = hides ? std::min(of_unit, repeat) : repeat;
        for (const bool beside : {false, true}) {
            const double times = beside ? repeat - alone : alone;
            if (times <= 0)
                continue;
            Operation op = unit_collective(beside ? name + " beside other passes" : name,
                of_experts ? GroupKind::expert_dp : group, kind, bytes, times, Phase::step,
                Constant::fsdp_pipeline_scale);
            if (beside) {
                op.window = gathers ? Window::forward_pass : Window::backward_pass;
                op.note = gathers ? "asked for while earlier micro-batches compute"
                                  : "overlaps with the last backward passes";
            }
            list.push_back(std::move(op));
        }
    };
    const double gathers = constants[Constant::fsdp_pipeline_gathers];
    const double root = constants[Constant::fsdp_pipeline_root] < 0.5 ? 0 : parameters.dense - parameters.layers;
    const bool experts = parameters.experts > 0 && expert_copies(plan) > 1;
    const double one = experts ? parameters.experts / parameters.moe_layers : 0;
    if (gathered_once_a_step(plan)) {
        add("fsdp parameter gather", Collective::all_gather, per_layer * layer_bytes(plan, rank),
            gathers * parameters.layer_count);
        if (gathers_narrow_layers(plan, rank))
            list.push_back(weights_of_fp8(per_layer, gathers * parameters.layer_count, Phase::step, rank));
        if (experts)
            add("fsdp expert parameter gather", Collective::all_gather, one * rank.element_bytes,
                gathers * parameters.moe_layers, true);
        if (root > 0)
            add("fsdp root parameter gather", Collective::all_gather, root * rank.element_bytes, gathers);
    }
    if (reduced_each_micro_batch(plan))
        return;
    add("fsdp gradient reduction", Collective::reduce_scatter, per_layer * rank.gradient_bytes, parameters.layer_count);
    if (experts)
        add("fsdp expert gradient reduction", Collective::reduce_scatter, one * rank.gradient_bytes,
            parameters.moe_layers, true);
    if (root > 0)
        add("fsdp root gradient reduction", Collective::reduce_scatter, root * rank.gradient_bytes, 1);
}

// ZeRO-Offload (arXiv:2101.06840): gradients to the host, the update there, weights back, or the fp32 masters that
// fully sharded weights are gathered from. Of matrices under Muon the momentum comes and the step goes back.
void add_optimizer_offload(
    std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, double own, double own_muon)
{
    const double back = fully_sharded(plan.training) ? bytes_per_element(Precision::fp32) : rank.element_bytes;
    const char* note = "ZeRO-Offload, arXiv:2101.06840, figure 3";
    list.push_back(host_work("gradients to the host, weights back", Part::optimizer, Constant::host_transfer_s_per_gb,
        (own * (rank.gradient_bytes + back) + 2 * own_muon * rank.element_bytes) / 1e9, note));
    list.push_back(host_work("optimizer on the host", Part::optimizer, Constant::host_update_s_per_gb,
        own * rank.constants[Constant::optimizer_shard_bytes] / 1e9, note));
}

// Gradients of what several tp ranks hold and each of them computes a part of.
void add_shared_gradients(
    std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, const StageParameters& parameters)
{
    if (rank.constants[Constant::shared_gradient_sums] < 0.5 || plan.layout.tp <= 1)
        return;
    const double owned = rank.gradient_bytes / sharded(plan).states;
    const auto add = [&](const char* name, GroupKind group, double count, const char* note) {
        list.push_back(plain_sum(name, group, Part::tp, count * owned, note));
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
        list.push_back(plain_sum("step scalars", GroupKind::world, Part::other, 8 * scalars,
            "gradient norm, loss, number of labels and the wish to stop, in fp64 and in one message"));
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

bool gathers_fp8(const Training& training, const Layout& layout)
{
    return training.precision == Precision::fp8 && training.fp8_recipe == Fp8Recipe::tensorwise
        && fully_sharded(training) && (training.fp8_scale_group != Fp8ScaleGroup::rank || layout.tp == 1);
}

bool fully_sharded(const Training& training)
{
    return training.sharding == Sharding::parameters || training.sharding == Sharding::hybrid;
}

bool gathered_once_a_step(const ResolvedPlan& plan)
{
    const FsdpSettings& fsdp = plan.training.fsdp;
    const bool each = fsdp.each_micro_batch && fsdp.reshard_after_forward;
    return fully_sharded(plan.training) && (passes_side_by_side(plan) || (plan.layout.pp > 1 && !each));
}

bool reduced_each_micro_batch(const ResolvedPlan& plan)
{
    const bool one_by_one = !passes_side_by_side(plan) && (plan.layout.pp == 1 || plan.training.fsdp.each_micro_batch);
    return plan.training.sharding == Sharding::gradients || (fully_sharded(plan.training) && one_by_one);
}

bool gradients_go_at_once(const Training& training)
{
    return training.optimizer_in_backward && training.micro_batches == 1;
}

double expert_copies(const ResolvedPlan& plan)
{
    const Layout& layout = plan.layout;
    return std::max(1.0, double(layout.tp) * layout.cp * layout.dp / (double(layout.ep) * layout.etp));
}

int micro_batches_together(const ResolvedPlan& plan)
{
    const Layout& layout = plan.layout;
    const bool blocks = traits_of(plan.training.schedule).whole_rounds && layout.pp > 1 && layout.virtual_stages > 1;
    return blocks ? layout.pp : 1;
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
    if (!reduced_each_micro_batch(plan))
        return; // once a step, if at all: see add_step_operations
    const bool gathered = fsdp && !gathered_once_a_step(plan);
    const auto group = training.sharding == Sharding::hybrid ? GroupKind::dp_shard : GroupKind::dp_cp;
    // ZeRO-2 sums the micro-batches that a chunk sees one after the other where they are (Llama 3, arXiv:2407.21783,
    // section 3.3.2: gradients are sharded, and a reduction for each micro-batch would not hide).
    const double together = fsdp ? 1 : micro_batches_together(plan);
    const auto add = [&](const std::string& name, GroupKind ranks, Phase phase, CollectiveKind kind, double bytes,
                         double units, bool overlap) {
        if (bytes <= 0 || units <= 0)
            return;
        Operation op = unit_collective(name, ranks, kind, bytes, units, phase, Constant::one);
        if (overlap) {
            op.window = Window::layer;
            op.exposed_floor = Constant::fsdp_exposed_floor;
            op.note = "prefetched while the layer before it computes";
        }
        list.push_back(std::move(op));
    };
    const auto add_unit = [&](const std::string& what, GroupKind ranks, double count, double units, bool of_layers) {
        if (gathered) {
            const bool narrow
                = of_layers && ranks != GroupKind::expert_dp; // experts have a scale each, told with their use
            const double bytes = count * (narrow ? layer_bytes(plan, rank) : rank.element_bytes);
            add(what + " parameter gather", ranks, Phase::forward, Collective::all_gather, bytes, units,
                of_layers && training.fsdp.prefetch);
            const bool again
                = training.fsdp.reshard_after_forward && (of_layers || rank.constants[Constant::fsdp_root_gathers] > 1);
            if (again)
                add(what + " parameter gather, repeated", ranks, Phase::backward, Collective::all_gather, bytes, units,
                    of_layers && training.fsdp.prefetch);
            if (narrow && gathers_narrow_layers(plan, rank))
                for (const Phase phase : {Phase::forward, Phase::backward})
                    if (phase == Phase::forward || again)
                        list.push_back(weights_of_fp8(count, units, phase, rank));
        }
        add(what + " gradient reduction", ranks, Phase::backward, Collective::reduce_scatter,
            count * rank.gradient_bytes, units / together, of_layers && training.overlap.grad_reduce);
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
    else
        add_sharded_pipeline(list, plan, rank, parameters);
    if (plan.training.sharding == Sharding::hybrid) {
        Operation replicas = reduction("gradient sum over the copies of a shard", GroupKind::dp_replicate,
            Collective::all_reduce, parameters.total() / sharded(plan).gradients * rank.gradient_bytes, 1,
            "HSDP: reduce-scatter inside a shard group, all-reduce between them");
        hide(replicas, Window::backward_pass, plan.training.overlap.grad_reduce);
        list.push_back(std::move(replicas));
    }
    if (parameters.tied > 0 && layout.pp > 1) {
        list.push_back(reduction("tied embedding gradient", GroupKind::pp, Collective::all_reduce,
            parameters.tied * rank.gradient_bytes, 1, "first and last stage hold copies of the embedding"));
        std::get<Collective>(list.back().work).ends_only = true;
    }
    add_shared_gradients(list, plan, rank, parameters);
    const Sharded split = sharded(plan);
    const Constants& constants = rank.constants;
    const double own = parameters.dense / split.states + parameters.experts / split.expert_states;
    const double own_muon = parameters.muon / split.states + parameters.expert_muon / split.expert_states;
    // Of these no second state is read and written, but the momentum goes out and the step comes back.
    const double muon_bytes = own_muon * (4 * rank.element_bytes - 2 * rank.state_bytes);
    const double local = fully_sharded(plan.training) ? 0 : parameters.total();
    const bool offloaded = plan.training.offload == Offload::optimizer;
    const double unfused = has_plain_forms(plan, rank) ? plain_forms::kUpdate.wide.forward : 0;
    list.push_back({.name = "optimizer",
        .phase = Phase::step,
        .part = Part::optimizer,
        .in_layer = false,
        .note = plan.training.optimizer_in_backward
            ? "in the backward pass, on its stream: each bucket as its gradient is final, which is freed; no time is "
              "won"
            : "reads gradient and states, writes states and weights; gradient norm and clearing over local parameters",
        .work = OptimizerUpdate{.bytes = (offloaded ? 0 : own) * (constants[Constant::optimizer_shard_bytes] + unfused)
                + (offloaded ? 0 : muon_bytes) + local * constants[Constant::optimizer_local_bytes],
            .least_bytes
            = offloaded ? 0 : own * (rank.gradient_bytes + 4 * rank.state_bytes) - own_muon * 2 * rank.state_bytes}});
    add_muon_operations(list, plan, rank, parameters);
    if (offloaded)
        add_optimizer_offload(list, plan, rank, own, own_muon);
    if (layout.gpus() > 1)
        add_gradient_norm(list, plan, constants);
    list.push_back(host_work(
        "step overhead", Part::other, Constant::step_overhead_s, 1, "data, logging, clipping, synchronisation"));
}

} // namespace fourfold
