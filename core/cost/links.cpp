// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/links.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace fourfold {

GroupAxes torus_place(const GroupSpan& span, const Cluster& cluster)
{
    if (span.per_node <= 1 || gather_links(span.torus) > 0)
        return span.torus;
    std::vector<int> ranks(std::size_t(span.per_node), 0);
    std::iota(ranks.begin(), ranks.end(), 0);
    return group_axes(ranks, torus_slice(cluster.intra_node.torus, span.per_node));
}

double torus_link_bytes_s(const CostContext& context)
{
    return context.cluster.intra_node.torus_link_gb_s() * 1e9 * context.constants[Constant::intra_node_efficiency];
}

double full_node_bytes_s(const GroupSpan& span, const Cluster& cluster)
{
    const IntraNode& node = cluster.intra_node;
    if (node.topology == IntraTopology::torus && span.per_node > 1)
        return gather_links(torus_place(span, cluster)) * node.torus_link_gb_s() * 1e9;
    double bandwidth = node.bandwidth_gb_s;
    if (node.topology == IntraTopology::pairs && node.pair_gb_s > 0)
        bandwidth = std::min(bandwidth, node.pair_gb_s * std::max(1, span.per_node - 1));
    return bandwidth * 1e9;
}

double full_network_bytes_s(const Cluster& cluster)
{
    return cluster.inter_node.bandwidth_gb_s * 1e9;
}

double node_bytes_s(const GroupSpan& span, const CostContext& context)
{
    return full_node_bytes_s(span, context.cluster) * context.constants[Constant::intra_node_efficiency];
}

double network_bytes_s(const GroupSpan& span, const CostContext& context)
{
    const Constants& c = context.constants;
    return full_network_bytes_s(context.cluster) * context.cluster.inter_node.nic_share
        * c[Constant::inter_node_efficiency] * std::pow(double(span.nodes), -c[Constant::inter_node_decay]);
}

int racks_of(const GroupSpan& span, const Cluster& cluster)
{
    if (cluster.rack.nodes <= 0)
        return 1;
    return span.racks > 0 ? span.racks : (span.nodes + cluster.rack.nodes - 1) / cluster.rack.nodes;
}

double nodes_per_rack(const GroupSpan& span, const Cluster& cluster)
{
    return double(span.nodes) / racks_of(span, cluster);
}

double rack_bytes_s(const GroupSpan& span, double streams, const CostContext& context)
{
    const Rack& rack = context.cluster.rack;
    if (rack.bandwidth_gb_s <= 0 || racks_of(span, context.cluster) <= 1)
        return std::numeric_limits<double>::infinity();
    return rack.bandwidth_gb_s * 1e9 * context.constants[Constant::inter_node_efficiency]
        * nodes_per_rack(span, context.cluster) / streams;
}

} // namespace fourfold
