// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/hardware/cluster.h"

#include <algorithm>

namespace fourfold {

namespace {
// One varied dimension of more than one rank.
struct Axis {
    int degree = 1, stride = 1;
};

// A dimension nests when node boundaries never cut through it irregularly: it lies inside a node, every step of it
// leaves the node, or the node holds a whole number of its steps and it a whole number of nodes.
bool nests(const Axis& axis, int gpus_per_node)
{
    const int extent = axis.stride * axis.degree;
    return gpus_per_node % extent == 0 || axis.stride % gpus_per_node == 0
        || (gpus_per_node % axis.stride == 0 && extent % gpus_per_node == 0);
}

int ranks_inside_node(const Axis& axis, int gpus_per_node)
{
    if (axis.stride >= gpus_per_node)
        return 1;
    return std::min(axis.degree, gpus_per_node / axis.stride);
}

// Ranks of the group that starts at rank 0, ascending.
std::vector<int> offsets_of(const std::vector<Axis>& axes, int size)
{
    std::vector<int> offsets{0};
    offsets.reserve(static_cast<std::size_t>(size));
    for (const Axis& axis : axes) {
        const std::size_t inner = offsets.size();
        for (int step = 1; step < axis.degree; ++step) {
            for (std::size_t i = 0; i < inner; ++i)
                offsets.push_back(offsets[i] + step * axis.stride);
        }
    }
    std::sort(offsets.begin(), offsets.end());
    return offsets;
}

GroupSpan span_at(const std::vector<int>& offsets, int base, int gpus_per_node)
{
    GroupSpan span{static_cast<int>(offsets.size()), 0, 0, 0, {}};
    int node = -1, on_node = 0;
    for (const int offset : offsets) {
        const int at = (base + offset) / gpus_per_node;
        on_node = at == node ? on_node + 1 : 1;
        span.nodes += at != node;
        node = at;
        span.per_node = std::max(span.per_node, on_node);
    }
    return span;
}

// More nodes is worse; at equal nodes, fewer ranks on a node share fewer of its NICs.
bool worse(const GroupSpan& a, const GroupSpan& b)
{
    return a.nodes != b.nodes ? a.nodes > b.nodes : a.per_node < b.per_node;
}
} // namespace

std::uint32_t GroupSpan::key() const
{
    std::uint32_t key = (std::uint32_t(nodes) << 10U) ^ std::uint32_t(per_node) ^ (std::uint32_t(racks) << 22U);
    for (const GroupAxis& axis : torus) {
        if (axis.ranks > 1)
            key = key * 0x9E3779B1U + std::uint32_t(axis.ranks * 8 + axis.spacing * 2048 + (axis.closed ? 1 : 0));
    }
    return key;
}

GroupSpan span(const Layout& layout, const std::vector<Dimension>& dimensions, int gpus_per_node)
{
    std::vector<Axis> axes, fixed;
    for (const Dimension dimension : layout.order) {
        const Axis axis{layout.degree(dimension), layout.stride(dimension)};
        if (axis.degree <= 1)
            continue;
        const bool varied = std::find(dimensions.begin(), dimensions.end(), dimension) != dimensions.end();
        (varied ? axes : fixed).push_back(axis);
    }
    GroupSpan worst;
    bool regular = true;
    for (const Axis& axis : axes) {
        worst.size *= axis.degree;
        worst.per_node *= ranks_inside_node(axis, gpus_per_node);
        regular = regular && nests(axis, gpus_per_node);
    }
    if (regular) {
        worst.nodes = worst.size / worst.per_node;
        return worst;
    }

    // How a group falls on nodes depends only on where in its node it starts: look at each start once.
    const std::vector<int> offsets = offsets_of(axes, worst.size);
    std::vector<bool> seen(static_cast<std::size_t>(gpus_per_node), false);
    worst.nodes = 0;
    for (const int base : offsets_of(fixed, layout.gpus() / worst.size)) {
        const auto start = static_cast<std::size_t>(base % gpus_per_node);
        if (seen[start])
            continue;
        seen[start] = true;
        const GroupSpan here = span_at(offsets, base, gpus_per_node);
        if (worst.nodes == 0 || worse(here, worst))
            worst = here;
    }
    return worst;
}

} // namespace fourfold
