// SPDX-License-Identifier: GPL-3.0-or-later
// What the host and the pipeline add to a micro-batch: launch floors, jitter, hops between stages.
#include "core/program/layer_operations.h"

#include <algorithm>
#include <cmath>

namespace fourfold {
void add_pipeline_hop(std::vector<Operation>& list, const RankShape& rank)
{
    Operation hop;
    hop.kind = OperationKind::send_receive;
    hop.part = Part::pp;
    hop.group = GroupKind::pp;
    hop.name = "activations to the next stage";
    hop.in_layer = false;
    hop.bytes = rank.tokens * rank.hidden * rank.element_bytes / rank.sequence_split;
    hop.latency = Constant::pipeline_latency_s;
    hop.scale = Constant::pipeline_transfer_scale;
    hop.note = "simulated as a delay between stages; the backward sends gradients of the same size";
    list.push_back(hop);
    hop.phase = Phase::backward;
    hop.name = "gradients to the previous stage";
    list.push_back(hop);
}

void add_host_operations(std::vector<Operation>& list, const ResolvedPlan& plan, double layers, double recompute_layers)
{
    const Layout& layout = plan.layout;
    const bool several_nodes = plan.nodes() > 1;
    const auto add = [&](const char* name, HostRule rule, Constant constant, Phase phase, double m, double repeat,
                         const char* note) {
        Operation op;
        op.kind = OperationKind::host;
        op.part = Part::other;
        op.phase = phase;
        op.name = name;
        op.host_rule = rule;
        op.constant = constant;
        op.m = m;
        op.repeat = repeat;
        op.in_layer = false;
        op.note = note;
        list.push_back(op);
    };
    const double again = plan.training.recompute == Recompute::full ? std::min(recompute_layers, layers) : 0;
    const auto add_floor = [&](Constant constant, double forward, double backward) {
        const char* note = "a layer takes at least the host's time to launch it";
        add("launch floor", HostRule::floor, constant, Phase::forward, forward, layers, note);
        add("launch floor", HostRule::floor, constant, Phase::backward, backward, layers, note);
        if (again > 0)
            add("launch floor", HostRule::floor, constant, Phase::recompute, forward, again, note);
    };
    if (layers > 0) {
        add("launch floor", HostRule::floor, Constant::layer_floor_forward_s, Phase::forward, 1, layers, "");
        add("launch floor", HostRule::floor, Constant::layer_floor_backward_s, Phase::backward, 1, layers, "");
        if (again > 0)
            add("launch floor", HostRule::floor, Constant::layer_floor_forward_s, Phase::recompute, 1, again, "");
        if (layout.tp > 1)
            add_floor(Constant::layer_floor_tp_s, 1.0 / 3, 2.0 / 3);
        if (layout.pp > 1 && several_nodes)
            add_floor(Constant::layer_floor_pipeline_s, layout.tp / 3.0, layout.tp * 2 / 3.0);
    }
    if (layout.pp > 1 && layout.tp * layout.cp * layout.pp > plan.cluster.gpus_per_node) {
        for (Phase phase : {Phase::forward, Phase::backward})
            add("replica larger than a node", HostRule::share, Constant::wide_replica_slowdown, phase, 1, 1,
                "empirical: pipelines whose replica spans nodes run slower than their parts");
    }
    if (several_nodes) {
        for (Phase phase : {Phase::forward, Phase::backward})
            add("stragglers", HostRule::share, Constant::replica_slowdown, phase, double(plan.gpus) / layout.tp / 8, 1,
                "the slowest of many replicas sets the pace");
    }
    if (plan.gpus > 1) {
        const double slowest = std::sqrt(2 * std::log(double(plan.gpus)));
        for (Phase phase : {Phase::forward, Phase::backward})
            add("slowest GPU", HostRule::share, Constant::straggler_spread, phase, slowest, 1,
                "expected largest of n normal deviations: sqrt(2 ln n)");
    }
    add("micro-batch overhead", HostRule::fixed, Constant::micro_batch_overhead_s, Phase::backward, 1,
        1.0 / layout.virtual_stages, "");
    add("replica jitter", HostRule::fixed, Constant::replica_jitter_s, Phase::backward, double(plan.gpus) / layout.tp,
        1.0 / layout.virtual_stages, "the slowest of many replicas, per micro-batch");
}

} // namespace fourfold
