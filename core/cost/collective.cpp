// SPDX-License-Identifier: GPL-3.0-or-later
// All-reduce, all-gather and reduce-scatter. Exchanges (all-to-all) are in exchange.cpp.
#include "core/cost/links.h"
#include "core/cost/prices.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace fourfold {
namespace {

// NCCL's tree reaches this share of its ring's bandwidth (src/graph/tuning.cc).
constexpr double kTreeBandwidth = 0.92;

// What latency a group adds at each level of the hardware, in seconds.
struct Latency {
    double levels = 0; // once through the levels of a binary tree inside the node, between nodes and between racks
    double ring = 0; // once round all ranks
    double tree = 0; // one way through chains inside the nodes and a tree between them
};

Latency latency_of(const GroupSpan& span, const Cluster& cluster)
{
    const IntraNode& node = cluster.intra_node;
    const InterNode& network = cluster.inter_node;
    const double hop = ring_step_us(node.hop_us, node.latency_us);
    const int racks = racks_of(span, cluster);
    Latency us;
    if (node.topology == IntraTopology::torus) {
        if (span.per_node > 1)
            us.levels = us.ring = us.tree = node.latency_us + hops(torus_place(span, cluster)) * hop;
    } else {
        us.levels = node.latency_us * std::log2(double(std::max(1, span.per_node)));
        us.ring = (span.size - (span.crosses_nodes() ? span.nodes : 1)) * hop;
        us.tree = (span.per_node - 1) * hop;
    }
    if (span.crosses_nodes()) {
        us.levels += network.latency_us * std::log2(double(span.nodes));
        us.ring += span.nodes * ring_step_us(network.hop_us, network.latency_us);
        us.tree += network.latency_us * std::ceil(std::log2(double(span.nodes)));
    }
    if (racks > 1) {
        us.levels += cluster.rack.latency_us * std::log2(double(racks));
        us.ring += cluster.rack.latency_us * racks;
        us.tree += cluster.rack.latency_us * std::ceil(std::log2(double(racks)));
    }
    return {us.levels * 1e-6, us.ring * 1e-6, us.tree * 1e-6};
}

} // namespace

const char* collective_word(CollectiveKind kind)
{
    switch (kind) {
    case Collective::all_reduce:
        return "all-reduce";
    case Collective::all_gather:
        return "all-gather";
    case Collective::reduce_scatter:
        return "reduce-scatter";
    case Collective::all_to_all:
        return "all-to-all";
    }
    return "";
}

double collective_bandwidth(const GroupSpan& span, const CostContext& context)
{
    const double inside = node_bytes_s(span, context);
    if (!span.crosses_nodes())
        return inside;
    const double outside = std::min(network_bytes_s(span, context), rack_bytes_s(span, 1, context)) * span.per_node;
    return span.per_node > 1 ? std::min(inside, outside) : outside;
}

GroupSpan span_of(const Collective& collective, const CostContext& context)
{
    const GroupSpan& span = context.span(collective.group);
    if (!collective.ends_only)
        return span;
    return {std::min(span.size, 2), std::min(span.nodes, 2), span.crosses_nodes() ? 1 : std::min(span.per_node, 2),
        std::min(span.racks, 2), {}};
}

Price price_collective(const Collective& collective, const CostContext& context)
{
    const GroupSpan span = span_of(collective, context);
    Price price;
    if (span.size <= 1)
        return price;
    const Latency latency = latency_of(span, context.cluster);
    const double stack = context.constants[collective.latency] * std::log2(double(span.size));
    if (context.with_formulas)
        price.source = price_source("links of the cluster",
            {Constant::intra_node_efficiency, Constant::inter_node_efficiency, collective.latency});
    if (collective.kind == Collective::all_to_all) {
        Price exchange = price_exchange(collective, span, stack + latency.levels, context);
        exchange.source = std::move(price.source);
        return exchange;
    }
    const double bandwidth = collective_bandwidth(span, context);
    double bytes = collective.bytes * double(span.size - 1) / span.size;
    double alpha = stack + latency.levels;
    const char* algorithm = "";
    price.seconds = bytes / bandwidth + alpha;
    if (collective.kind == Collective::all_reduce) {
        bytes *= 2;
        const double ring = bytes / bandwidth + 2 * latency.ring;
        const double tree = bytes / (bandwidth * kTreeBandwidth) + 2 * latency.tree;
        alpha = stack + 2 * (ring <= tree ? latency.ring : latency.tree);
        algorithm = ring <= tree ? "ring " : "tree ";
        price.seconds = stack + std::min(ring, tree);
    }
    if (context.with_formulas)
        price.formula = text_of("%s%s over %d ranks on %d node%s: %.4g MB / %.4g GB/s + %.3g us start-up = %.4g ms",
            algorithm, collective_word(collective.kind), span.size, span.nodes, span.nodes == 1 ? "" : "s", bytes / 1e6,
            (*algorithm == 't' ? kTreeBandwidth : 1) * bandwidth / 1e9, alpha * 1e6, price.seconds * 1e3);
    return price;
}

Usage usage_of_collective(const Collective& collective, const CostContext& context)
{
    Usage usage;
    const GroupSpan span = span_of(collective, context);
    if (span.size <= 1)
        return usage;
    const double size = span.size, nodes = span.nodes, here = span.per_node;
    double inside = 0, outside = 0;
    switch (collective.kind) {
    case Collective::all_gather:
    case Collective::reduce_scatter:
        inside = collective.bytes * (here - 1) / size;
        outside = collective.bytes * (size - here) / size / here;
        break;
    case Collective::all_reduce:
        inside = collective.bytes * (here - 1) / here;
        outside = collective.bytes / here * (nodes - 1) / nodes;
        break;
    case Collective::all_to_all:
        if (collective.routing.active > 0) {
            const double token = collective.bytes / collective.routing.active;
            inside = nodes > 1 ? 0 : token * copies_out(collective.routing, size);
            outside = nodes > 1 ? token * copies_out(collective.routing, nodes) : 0;
        } else {
            inside = collective.bytes * (here - 1) / size;
            outside = collective.bytes * (size - here) / size;
        }
        break;
    }
    usage[Limit::node_links] = seconds_at(inside, full_node_bytes_s(span, context.cluster));
    usage[Limit::network] = seconds_at(outside, full_network_bytes_s(context.cluster));
    return usage;
}

StepWork step_work_of_collective(const Collective& collective)
{
    switch (collective.kind) {
    case Collective::all_reduce:
    case Collective::reduce_scatter:
        return StepWork::reduce;
    case Collective::all_gather:
        return StepWork::gather;
    case Collective::all_to_all:
        break;
    }
    return StepWork::other;
}

} // namespace fourfold
