// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/plan/facts.h"

#include "app/view/plan/choices.h"
#include "app/view/text.h"
#include "core/base/text.h"
#include "core/hardware/cluster.h"

#include <algorithm>

namespace fourfold::view {

std::string parameters_fact(const ResolvedPlan& plan)
{
    return compact(double(plan.model.parameters())) + " parameters";
}

std::string gpus_fact(const ResolvedPlan& plan)
{
    return counted(plan.gpus, plan.cluster.gpu.is_cpu() ? "CPU rank" : "GPU");
}

std::string nodes_fact(const ResolvedPlan& plan)
{
    return counted(plan.nodes(), "node");
}

std::string product_fact(const ResolvedPlan& plan)
{
    const Layout& layout = plan.layout;
    std::vector<std::string> factors;
    for (const int degree : {layout.tp, layout.cp, layout.pp, layout.dp})
        factors.push_back(grouped(degree));
    return joined(factors, " \u00d7 ") + (layout.gpus() == plan.gpus ? " = " : " \u2260 ") + grouped(plan.gpus);
}

std::string tensor_fact(const ResolvedPlan& plan)
{
    if (plan.layout.tp == 1)
        return "not split";
    const GroupSpan reach = span(plan.layout, {Dimension::tp}, plan.cluster.gpus_per_node);
    return reach.crosses_nodes() ? "across " + std::to_string(reach.nodes) + " nodes" : "inside one node";
}

std::string context_fact(const ResolvedPlan& plan)
{
    if (plan.layout.cp == 1)
        return "whole sequences";
    return grouped(plan.training.seq_len / std::max(1, plan.layout.cp)) + " tokens per rank";
}

std::string pipeline_fact(const ResolvedPlan& plan)
{
    const std::vector<int>& layers = plan.layout.stage_layers;
    if (layers.empty())
        return {};
    const auto [least, most] = std::minmax_element(layers.begin(), layers.end());
    const char* unit = plan.layout.virtual_stages > 1 ? " per chunk" : " per stage";
    if (*least == *most)
        return counted(*most, "layer") + unit;
    return std::to_string(*least) + " to " + std::to_string(*most) + " layers" + unit;
}

std::string data_fact(const ResolvedPlan& plan)
{
    return counted(plan.training.micro_batches, "micro-batch", "micro-batches");
}

std::string expert_fact(const ResolvedPlan& plan)
{
    if (!plan.model.experts)
        return {};
    if (plan.layout.ep == 1)
        return "all " + grouped(plan.model.experts->count) + " on every rank";
    return counted(double(plan.model.experts->count / plan.layout.ep), "expert") + " per rank";
}

std::string tokens_fact(const ResolvedPlan& plan)
{
    return compact(plan.tokens_per_step()) + " tokens per step";
}

std::string intra_node_fact(const Cluster& cluster)
{
    switch (cluster.intra_node.topology) {
    case IntraTopology::nvswitch:
        return "switch";
    case IntraTopology::pairs:
        return "pairs";
    case IntraTopology::torus:
        return "torus";
    }
    return {};
}

std::string inter_node_fact(const Cluster& cluster)
{
    const double nics = cluster.inter_node.nics_per_node;
    return nics > 0 ? counted(nics, "NIC") : grouped(cluster.inter_node.latency_us) + " \u00b5s";
}

std::string gpu_fact(const Gpu& gpu)
{
    const Precision precision = gpu.bf16_tflops ? Precision::bf16 : Precision::fp32;
    return gib(gpu.memory_gib) + " GiB usable, " + compact(gpu.peak_flops(precision) / 1e12) + " TFLOP/s "
        + upper_case(to_text(precision));
}

std::string batch_change(const Training& before, const Training& after)
{
    std::vector<std::string> changes;
    const auto add = [&](const char* name, int from, int to) {
        if (from != to)
            changes.push_back(name + (' ' + grouped(from)) + " \u2192 " + grouped(to));
    };
    add("sequence", before.seq_len, after.seq_len);
    add("micro-batch", before.micro_batch, after.micro_batch);
    add("global batch", before.global_batch, after.global_batch);
    return joined(changes, ", ");
}

std::string schedule_fact(const ResolvedPlan& plan)
{
    return choice_label("training.schedule", to_text(plan.training.schedule)) + ", " + counted(plan.layout.pp, "stage")
        + " \u00d7 " + counted(plan.training.micro_batches, "micro-batch", "micro-batches");
}

std::string layout_line(const Layout& layout)
{
    return text_of("TP %d  CP %d  PP %d  DP %d", layout.tp, layout.cp, layout.pp, layout.dp);
}

} // namespace fourfold::view
