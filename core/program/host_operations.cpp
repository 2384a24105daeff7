// SPDX-License-Identifier: GPL-3.0-or-later
// What the host and the pipeline add to a micro-batch: launch floors, jitter, hops between stages.
#include "core/program/layer_operations.h"

#include "core/program/graph_forms.h"
#include "core/program/plain_forms.h"

#include <algorithm>
#include <cmath>

namespace fourfold {

void add_pipeline_hop(std::vector<Operation>& list, const RankShape& rank, const Layout& layout)
{
    const auto scale
        = layout.virtual_stages > 1 ? Constant::interleaved_transfer_scale : Constant::pipeline_transfer_scale;
    const auto add = [&](const char* name, Phase phase) {
        list.push_back({.name = name,
            .phase = phase,
            .part = Part::pp,
            .in_layer = false,
            .scale = scale,
            .note = "simulated as a delay between stages; the backward sends gradients of the same size",
            .work = PointToPoint{.group = GroupKind::pp,
                .bytes = rank.tokens * rank.hidden * rank.element_bytes / rank.sequence_split,
                .latency = Constant::pipeline_latency_s}});
    };
    add("activations to the next stage", Phase::forward);
    add("gradients to the previous stage", Phase::backward);
}

namespace {

Operation host(
    const char* name, HostRule rule, Constant constant, Phase phase, double times, double repeat, const char* note)
{
    return {.name = name,
        .phase = phase,
        .part = Part::other,
        .repeat = repeat,
        .in_layer = false,
        .note = note,
        .work = HostCost{.rule = rule, .constant = constant, .times = times}};
}

} // namespace

void add_launch_floors(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, double layers,
    double recompute_layers, double graphed)
{
    if (layers <= 0)
        return;
    const Layout& layout = plan.layout;
    const double again = plan.training.recompute == Recompute::full ? std::min(recompute_layers, layers) : 0;
    const auto add = [&](Constant constant, Phase phase, double m, double repeat, const char* note) {
        list.push_back(host("launch floor", HostRule::floor, constant, phase, m, repeat, note));
    };
    const auto add_floor = [&](Constant constant, double forward, double backward) {
        const char* note = "a layer takes at least the host's time to launch it";
        add(constant, Phase::forward, forward, layers, note);
        add(constant, Phase::backward, backward, layers, note);
        if (again > 0)
            add(constant, Phase::recompute, forward, again, note);
    };
    const bool plain = has_plain_forms(plan, rank);
    const double forward = plain ? plain_forms::kForwardLaunches : 1,
                 backward = plain ? plain_forms::kBackwardLaunches : 1;
    const char* why = plain ? "not compiled: so many times the launches" : "";
    add(Constant::layer_floor_forward_s, Phase::forward, forward, layers - graphed, why);
    add(Constant::layer_floor_backward_s, Phase::backward, backward, layers - graphed, why);
    if (graphed > 0) {
        const char* one_call = "recorded as a CUDA graph: one call for all of a layer's launches";
        add(Constant::layer_floor_forward_s, Phase::forward, kGraphCalls, graphed, one_call);
        add(Constant::layer_floor_backward_s, Phase::backward, kGraphCalls, graphed, one_call);
    }
    if (again > 0)
        add(Constant::layer_floor_forward_s, Phase::recompute, forward, again, why);
    if (layout.tp > 1)
        add_floor(Constant::layer_floor_tp_s, 1.0 / 3, 2.0 / 3);
    if (const auto& experts = plan.model.experts) {
        const double share
            = double(plan.model.moe_layers()) / plan.model.layers * experts->count / std::max(1, layout.ep);
        add_floor(Constant::layer_floor_expert_s, share / 3, share * 2 / 3);
    }
    if (layout.pp > 1 && plan.nodes() > 1)
        add_floor(Constant::layer_floor_pipeline_s, layout.tp / 3.0, layout.tp * 2 / 3.0);
}

void add_job_overheads(std::vector<Operation>& list, const ResolvedPlan& plan)
{
    const Layout& layout = plan.layout;
    const auto add_shares = [&](const char* name, Constant constant, double m, const char* note) {
        for (Phase phase : {Phase::forward, Phase::backward})
            list.push_back(host(name, HostRule::share, constant, phase, m, 1, note));
    };
    if (layout.pp > 1 && layout.tp * layout.cp * layout.pp > plan.cluster.gpus_per_node)
        add_shares("replica larger than a node", Constant::wide_replica_slowdown, 1,
            "empirical: pipelines whose replica spans nodes run slower than their parts");
    if (plan.nodes() > 1)
        add_shares("stragglers", Constant::replica_slowdown, double(plan.gpus) / layout.tp / 8,
            "the slowest of many replicas sets the pace");
    if (plan.gpus > 1)
        add_shares("slowest GPU", Constant::straggler_spread, std::sqrt(2 * std::log(double(plan.gpus))),
            "expected largest of n normal deviations: sqrt(2 ln n)");
    const auto add_fixed = [&](const char* name, Constant constant, double m, const char* note) {
        list.push_back(host(name, HostRule::fixed, constant, Phase::backward, m, 1.0 / layout.virtual_stages, note));
    };
    add_fixed("micro-batch overhead", Constant::micro_batch_overhead_s, 1, "");
    add_fixed("replica jitter", Constant::replica_jitter_s, double(plan.gpus) / layout.tp,
        "the slowest of many replicas, per micro-batch");
}

} // namespace fourfold
