// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/links.h"
#include "core/cost/prices.h"

#include <algorithm>

namespace fourfold {
namespace {

double pair_bandwidth(const GroupSpan& span, const CostContext& context)
{
    const IntraNode& node = context.cluster.intra_node;
    if (node.topology == IntraTopology::torus) {
        int shared = 1; // groups that lie interleaved pass their messages over the same links
        for (const GroupAxis& axis : torus_place(span, context.cluster))
            shared = axis.ranks > 1 ? std::max(shared, int(axis.spacing)) : shared;
        return torus_link_bytes_s(context) / shared;
    }
    const double pair
        = node.topology == IntraTopology::pairs && node.pair_gb_s > 0 ? node.pair_gb_s : node.bandwidth_gb_s;
    return pair * 1e9 * context.constants[Constant::intra_node_efficiency];
}

double nic_bandwidth(const GroupSpan& span, const CostContext& context)
{
    const InterNode& network = context.cluster.inter_node;
    return std::min(
        network.bandwidth_gb_s * network.nic_share * 1e9 * context.constants[Constant::inter_node_efficiency],
        rack_bytes_s(span, 1, context));
}

// A ring over several nodes: each node passes (GPUs of the node / ring members on it) streams to the next node, which
// share what the node's point-to-point traffic was measured to reach.
double ring_bandwidth(const GroupSpan& span, const CostContext& context)
{
    const Cluster& cluster = context.cluster;
    if (cluster.inter_node.p2p_gb_s <= 0)
        return nic_bandwidth(span, context);
    const double streams = std::max(1.0, double(cluster.gpus_per_node) / std::max(1, span.per_node));
    const double nic = cluster.inter_node.nics_per_node > 0
        ? cluster.inter_node.bandwidth_gb_s * cluster.gpus_per_node / cluster.inter_node.nics_per_node
        : cluster.inter_node.bandwidth_gb_s * cluster.gpus_per_node;
    return std::min(nic, cluster.inter_node.p2p_gb_s / streams) * 1e9;
}

} // namespace

Price price_send_receive(const PointToPoint& transfer, const CostContext& context)
{
    const GroupSpan& span = context.span(transfer.group);
    const bool outside = span.crosses_nodes();
    double bandwidth = pair_bandwidth(span, context);
    if (outside)
        bandwidth = transfer.group == GroupKind::cp ? ring_bandwidth(span, context) : nic_bandwidth(span, context);
    const double alpha = context.constants[transfer.latency];
    Price price;
    price.seconds = bandwidth > 0 ? transfer.bytes / bandwidth + alpha : alpha;
    if (!context.with_formulas)
        return price;
    price.source = price_source("links of the cluster", {Constant::inter_node_efficiency});
    price.formula = text_of("%.4g MB / %.4g GB/s (%s) + %.3g us = %.4g ms", transfer.bytes / 1e6, bandwidth / 1e9,
        outside ? "between nodes" : "inside a node", alpha * 1e6, price.seconds * 1e3);
    return price;
}

Usage usage_of_send_receive(const PointToPoint& transfer, const CostContext& context)
{
    Usage usage;
    const GroupSpan& span = context.span(transfer.group);
    if (span.crosses_nodes())
        usage[Limit::network]
            = seconds_at(transfer.bytes, full_network_bytes_s(context.cluster) * context.cluster.gpus_per_node);
    else
        usage[Limit::node_links] = seconds_at(transfer.bytes, full_node_bytes_s(span, context.cluster));
    return usage;
}

} // namespace fourfold
