// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/bounds.h"

#include "core/cost/prices.h"
#include "core/program/muon.h"
#include "core/program/rank_shape.h"
#include "core/program/sharding_operations.h"

#include <algorithm>
#include <cmath>

namespace fourfold {
namespace {

// A group of `ranks` that stays inside nodes, or one that is spread over as many nodes as it can.
GroupSpan span_on(LinkKind link, int ranks, int gpus_per_node)
{
    if (link != LinkKind::network)
        return {ranks, 1, ranks};
    const int nodes = std::max(2, (ranks + gpus_per_node - 1) / gpus_per_node);
    return {ranks, nodes, std::max(1, ranks / nodes)};
}

double expert_matrices(const ModelShape& model)
{
    return layer_parameters(model, layer_rows(model, true), {}).expert;
}

// Of one layer, on average over the model: parameters that one token's products use.
double parameters_met(const ModelShape& model)
{
    return (model.active_matmul_parameters() - double(model.hidden) * double(model.vocab)) / model.layers;
}

// Of one layer, on average: parameters that FSDP gathers on a rank (its part of the experts).
double parameters_held(const ModelShape& model, double ep)
{
    const double tables = (model.tied_embeddings ? 1.0 : 2.0) * double(model.hidden) * double(model.vocab);
    double held = model.parameters() - tables;
    if (model.experts) {
        const double all = double(model.moe_layers()) * model.experts->count * expert_matrices(model);
        held += all / ep - all;
    }
    return held / model.layers;
}

class Links {
public:
    explicit Links(const ResolvedPlan& plan)
        : plan_(plan)
        , context_(plan)
        , rank_(rank_shape(plan))
        , rate_(context_.peak_flops * context_.core_speedup * context_.constants[Constant::gemm_efficiency])
    {
    }

    std::vector<LinkBound> all()
    {
        if (!(rate_ > 0) || !(plan_.model.layers > 0))
            return {};
        const Layout& layout = plan_.layout;
        const bool torus = plan_.cluster.intra_node.topology == IntraTopology::torus;
        for (const LinkKind link : {torus ? LinkKind::torus : LinkKind::node, LinkKind::network}) {
            add("fsdp", link, layout.dp * layout.cp, GroupKind::dp_cp);
            add("tp", link, layout.tp, GroupKind::tp);
            add("pp", link, layout.pp, GroupKind::pp);
            if (plan_.model.experts)
                add("ep", link, layout.ep, GroupKind::ep);
        }
        return std::move(links_);
    }
    [[nodiscard]] double rate() const { return rate_; }

private:
    void add(const char* parallelism, LinkKind link, int degree, GroupKind group)
    {
        const int node = plan_.cluster.gpus_per_node;
        LinkBound out;
        out.parallelism = parallelism;
        out.link = link;
        out.used = degree > 1 && context_.span(group).crosses_nodes() == (link == LinkKind::network);
        out.ranks = degree > 1 ? degree : link == LinkKind::network ? 2 * node : std::max(2, node);
        out.batch = plan_.training.micro_batch;
        const GroupSpan span = out.used ? context_.span(group) : span_on(link, out.ranks, std::max(1, node));
        const double alpha
            = (link == LinkKind::network ? plan_.cluster.inter_node.latency_us : plan_.cluster.intra_node.latency_us)
            * 1e-6;
        out.bound = bound(out.parallelism, span, out.ranks, alpha, collective_bandwidth(span, context_));
        links_.push_back(out);
    }

    [[nodiscard]] OverlapBound bound(
        const std::string& parallelism, const GroupSpan& span, double p, double alpha, double bandwidth) const
    {
        const double tokens = rank_.tokens / std::max(1.0, rank_.sequences); // of one sequence, after CP
        const double element = rank_.element_bytes, ring = (p - 1) / p, log_p = std::log2(p);
        // Parameters of one layer that a token meets, and that a rank holds, before TP: a degree that the plan does not
        // have is tried in the place of the plan's.
        const ModelShape& model = plan_.model;
        const double tp = parallelism == "tp" ? p : rank_.tp;
        const double held = parameters_held(model, plan_.layout.ep) / tp, met = parameters_met(model) / tp;
        OverlapBound out;
        out.compute_s_per_sequence = 2 * met * tokens / rate_;
        if (parallelism == "fsdp") {
            out.latency_s = alpha * log_p;
            out.transfer_s = held * element * ring / bandwidth;
        } else if (parallelism == "tp") {
            out.latency_s = 4 * alpha * log_p; // two gathers and two scatters, or two all-reduces of two rounds
            out.transfer_s_per_sequence = 4 * tokens * rank_.hidden * element * ring / bandwidth;
        } else if (parallelism == "pp") {
            const double layers = std::max(1.0, double(model.layers) / p);
            // One pair of neighbours: not the ranks of a node together.
            const GroupSpan pair{2, span.crosses_nodes() ? 2 : 1, span.crosses_nodes() ? 1 : 2};
            out.latency_s = alpha;
            out.compute_s_per_sequence *= layers;
            out.transfer_s_per_sequence
                = tokens * rank_.hidden * element / rank_.sequence_split / collective_bandwidth(pair, context_);
        } else {
            const Experts& experts = *model.experts;
            const double copies = tokens * double(experts.active);
            out.latency_s = 2 * alpha * log_p;
            out.transfer_s_per_sequence = 2 * copies * rank_.hidden * element * ring / bandwidth;
            out.compute_s_per_sequence = 2 * copies * expert_matrices(model) / rate_;
        }
        return out;
    }

    const ResolvedPlan& plan_;
    CostContext context_;
    RankShape rank_;
    double rate_;
    std::vector<LinkBound> links_;
};

} // namespace

Bounds bounds_of(const ResolvedPlan& plan)
{
    Links links(plan);
    Bounds bounds;
    bounds.compute_tflops = links.rate() / 1e12;
    bounds.links = links.all();
    const Training& training = plan.training;
    const bool mixed = training.precision != Precision::fp32;
    bounds.state_bytes_per_parameter = (mixed ? 2 + 4 : 4) // weights, and their fp32 masters
        + (gradients_go_at_once(training) ? 0 : bytes_per_element(training.grad_dtype))
        + states_per_parameter(plan) * bytes_per_element(training.optimizer_state_dtype);
    const auto level = [&](const char* name, int gpus) {
        const double memory = gpus * plan.cluster.gpu.memory_gib;
        const double most = memory * kGib / bounds.state_bytes_per_parameter;
        bounds.levels.push_back({name, gpus, memory, most, plan.model.parameters() <= most});
    };
    level("gpu", 1);
    level("node", plan.cluster.gpus_per_node);
    level("job", plan.gpus);
    return bounds;
}

} // namespace fourfold
