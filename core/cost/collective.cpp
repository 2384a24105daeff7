// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/prices.h"

#include <algorithm>
#include <cmath>

namespace fourfold {
namespace {

// Inside a node, per rank. Without a switch a rank talks to each peer over that pair's links.
double node_bandwidth(int ranks, const CostContext& context)
{
    const IntraNode& node = context.cluster.intra_node;
    double bandwidth = node.bandwidth_gb_s;
    if (node.topology == IntraTopology::pairs && node.pair_gb_s > 0)
        bandwidth = std::min(bandwidth, node.pair_gb_s * std::max(1, ranks - 1));
    return bandwidth * 1e9 * context.constants[Constant::intra_node_efficiency];
}

// Out of the node: its ranks of the group share their NICs; the rate falls with the number of nodes.
double network_bandwidth(const GroupSpan& span, const CostContext& context)
{
    const Cluster& cluster = context.cluster;
    double per_gpu = cluster.inter_node.bandwidth_gb_s;
    if (cluster.rack.nodes > 0 && span.nodes > cluster.rack.nodes && cluster.rack.bandwidth_gb_s > 0)
        per_gpu = std::min(per_gpu, cluster.rack.bandwidth_gb_s);
    const Constants& c = context.constants;
    return per_gpu * 1e9 * span.per_node * c[Constant::inter_node_efficiency]
        * std::pow(double(span.nodes), -c[Constant::inter_node_decay]);
}

// Latency of the tree: its levels inside the node, between nodes and between racks.
double start_up(const GroupSpan& span, const Operation& operation, const CostContext& context)
{
    const Cluster& cluster = context.cluster;
    const double stack = context.constants[operation.latency] * std::log2(double(span.size));
    double links = cluster.intra_node.latency_us * std::log2(double(std::max(1, span.per_node)));
    if (span.crosses_nodes()) {
        links += cluster.inter_node.latency_us * std::log2(double(span.nodes));
        if (cluster.rack.nodes > 0 && span.nodes > cluster.rack.nodes)
            links += cluster.rack.latency_us * std::log2(std::ceil(double(span.nodes) / cluster.rack.nodes));
    }
    return stack + links * 1e-6;
}

const char* word(Collective collective)
{
    switch (collective) {
    case Collective::all_reduce:
        return "all-reduce";
    case Collective::all_gather:
        return "all-gather";
    case Collective::reduce_scatter:
        return "reduce-scatter";
    case Collective::all_to_all:
        return "all-to-all";
    case Collective::none:
        return "none";
    }
    return "none";
}

} // namespace

double collective_bandwidth(const GroupSpan& span, const CostContext& context)
{
    const double inside = node_bandwidth(span.per_node, context);
    return span.crosses_nodes() ? std::min(inside, network_bandwidth(span, context)) : inside;
}

Price price_collective(const Operation& operation, const CostContext& context)
{
    GroupSpan span = context.span(operation.group);
    // Two ranks of a longer group (first and last stage share the tied embedding): as far apart as the group reaches.
    if (operation.group == GroupKind::pp && operation.batch == 2)
        span = {std::min(span.size, 2), std::min(span.nodes, 2), span.crosses_nodes() ? 1 : std::min(span.per_node, 2)};
    Price price;
    if (span.size <= 1)
        return price;
    const double share = double(span.size - 1) / span.size;
    const double rounds = operation.collective == Collective::all_reduce ? 2 : 1;
    double bytes = operation.bytes * share * rounds;
    double bandwidth = collective_bandwidth(span, context);
    if (operation.collective == Collective::all_to_all && span.crosses_nodes()) {
        // Every rank sends on its own: only what leaves the node uses its NIC share, the rest stays on the links
        // inside.
        const double outside = operation.bytes * double(span.size - span.per_node) / span.size;
        const GroupSpan alone{span.size, span.nodes, 1};
        bandwidth = std::min(node_bandwidth(span.per_node, context), network_bandwidth(alone, context));
        bytes = outside;
    }
    const double alpha = start_up(span, operation, context);
    price.seconds = bytes / bandwidth + alpha;
    if (context.with_formulas)
        price.formula = text_of("%s over %d ranks on %d node%s: %.4g MB / %.4g GB/s + %.3g us start-up = %.4g ms",
            word(operation.collective), span.size, span.nodes, span.nodes == 1 ? "" : "s", bytes / 1e6, bandwidth / 1e9,
            alpha * 1e6, price.seconds * 1e3);
    return price;
}

} // namespace fourfold
