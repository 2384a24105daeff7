// SPDX-License-Identifier: GPL-3.0-or-later
// Speeds of the links that a group of ranks sees, in bytes/s, with the stack's efficiencies.
#pragma once

#include "core/cost/context.h"

namespace fourfold {

// Where a group lies on a torus. One whose place is not known gets a box of its own.
GroupAxes torus_place(const GroupSpan& span, const Cluster& cluster);
double torus_link_bytes_s(const CostContext& context);

// Inside a node, per rank, of a gather, reduction or exchange. Without a switch a rank talks to each peer over that
// pair's links; on a torus over the links of the axes that the group spans.
double node_bytes_s(const GroupSpan& span, const CostContext& context);
// Out of the node, one GPU's share of its adapters; falls with the number of nodes where a stack says so.
double network_bytes_s(const GroupSpan& span, const CostContext& context);
// The same for a ring or tree that crosses racks: a rack's uplinks carry one stream out for all of the group's nodes in
// it. `streams`: 1, or for exchanges, in which every rank sends out for itself, the group's nodes in a rack.
double rack_bytes_s(const GroupSpan& span, double streams, const CostContext& context);

// The same at the full rate of the links, whatever the stack and the way to the adapters.
double full_node_bytes_s(const GroupSpan& span, const Cluster& cluster);
double full_network_bytes_s(const Cluster& cluster);
// Bytes over bandwidth; nothing takes no time, whatever the link.
inline double seconds_at(double bytes, double bytes_s)
{
    return bytes > 0 && bytes_s > 0 ? bytes / bytes_s : 0;
}

// Racks that the group touches, and its nodes in one of them; 1 rack where none are described.
int racks_of(const GroupSpan& span, const Cluster& cluster);
double nodes_per_rack(const GroupSpan& span, const Cluster& cluster);

// Copies of a token that leave its place (rank, node) when each of the group's places with one of its experts gets one
// and passes it on inside (DeepEP; DeepSeek-V3, arXiv:2412.19437, section 3.2.2), for balanced routing.
double copies_out(const TokenRouting& routing, double places);

// The ranks that take part in a collective. Two ranks of a longer group (first and last stage share the tied
// embedding) are as far apart as the group reaches.
GroupSpan span_of(const Collective& collective, const CostContext& context);

} // namespace fourfold
