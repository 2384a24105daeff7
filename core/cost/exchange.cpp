// SPDX-License-Identifier: GPL-3.0-or-later
// All-to-all: every rank sends a part of its own to every other.
#include "core/cost/links.h"
#include "core/cost/prices.h"

#include <algorithm>
#include <cmath>

namespace fourfold {
namespace {

// Probability that `draws` of `all` things, none twice, miss the `there` things of one place; draws may be a mean.
double missed(double all, double there, double draws)
{
    double probability = 1;
    for (int i = 0; i < draws; ++i)
        probability *= std::pow(std::max(0.0, all - there - i) / (all - i), std::min(1.0, draws - i));
    return probability;
}

double inside_seconds(double bytes, const GroupSpan& span, const CostContext& context)
{
    if (span.per_node <= 1)
        return 0;
    if (context.cluster.intra_node.topology == IntraTopology::torus)
        return bytes * exchange_load(torus_place(span, context.cluster)) / torus_link_bytes_s(context);
    return bytes * double(span.per_node - 1) / span.per_node / node_bytes_s(span, context);
}

} // namespace

double copies_out(const TokenRouting& routing, double places)
{
    const double active = routing.active, count = routing.experts;
    const double groups = routing.groups, used = routing.active_groups > 0 ? routing.active_groups : groups;
    double met = 0; // places that hold one of the token's experts
    if (used >= groups || places >= groups) {
        met = places * used / groups * (1 - missed(count * used / groups, count / places, active));
    } else { // several groups in a place
        const double groups_met = used * (1 - missed(count * used / groups, count / groups, active));
        met = places * (1 - missed(groups, groups / places, groups_met));
    }
    return met * (places - 1) / places;
}

Price price_exchange(const Collective& exchange, const GroupSpan& span, double alpha, const CostContext& context)
{
    // What stays in the node uses the links inside, what leaves it the rank's own share of the adapters, both at once.
    const double same_node = double(span.per_node) / span.size;
    double inside = exchange.bytes * same_node, outside = exchange.bytes - inside;
    const bool once
        = exchange.routing.active > 1 && span.crosses_nodes() && context.constants[Constant::expert_send_once] >= 0.5;
    if (once) {
        outside = exchange.bytes / exchange.routing.active * copies_out(exchange.routing, span.nodes);
        inside = exchange.bytes; // every copy is handed out inside the node that holds its expert
    }
    Price price;
    double seconds = inside_seconds(inside, span, context);
    if (span.crosses_nodes()) {
        const double racks = racks_of(span, context.cluster);
        seconds = std::max({seconds, outside / network_bytes_s(span, context),
            outside * (1 - nodes_per_rack(span, context.cluster) / span.nodes) / (1 - 1.0 / span.nodes)
                / rack_bytes_s(span, span.nodes / racks, context)});
    }
    price.seconds = seconds + alpha;
    if (context.with_formulas)
        price.formula = text_of("all-to-all over %d ranks on %d node%s: %.4g MB inside, %.4g MB between nodes%s + %.3g "
                                "us start-up = %.4g ms",
            span.size, span.nodes, span.nodes == 1 ? "" : "s", inside / 1e6, outside / 1e6,
            once ? " (once a node)" : "", alpha * 1e6, price.seconds * 1e3);
    return price;
}

} // namespace fourfold
