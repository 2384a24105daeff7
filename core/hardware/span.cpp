// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/hardware/cluster.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>

namespace fourfold {

namespace {
// One varied dimension of more than one rank.
struct Degree {
    int degree = 1, stride = 1;
};

// A dimension nests when node boundaries never cut through it irregularly: it lies inside a node, every step of it
// leaves the node, or the node holds a whole number of its steps and it a whole number of nodes.
bool nests(const Degree& axis, int gpus_per_node)
{
    const int extent = axis.stride * axis.degree;
    return gpus_per_node % extent == 0 || axis.stride % gpus_per_node == 0
        || (gpus_per_node % axis.stride == 0 && extent % gpus_per_node == 0);
}

int ranks_inside_node(const Degree& axis, int gpus_per_node)
{
    if (axis.stride >= gpus_per_node)
        return 1;
    return std::min(axis.degree, gpus_per_node / axis.stride);
}

// Ranks met in ascending order: how many nodes they touch and how many of them share one.
class NodeCount {
public:
    explicit NodeCount(int gpus_per_node)
        : gpus_per_node_(gpus_per_node)
    {
    }
    // The ranks that `axes` (innermost first) reach from `first`. Along an axis the ranks fall on nodes in a pattern
    // that repeats after at most as many steps as a node has GPUs: once its steady part was walked, the rest is
    // counted.
    void walk(std::span<const Degree> axes, std::int64_t first)
    {
        if (axes.empty()) {
            add(first);
            return;
        }
        const Degree axis = axes.back();
        const auto inner = axes.first(axes.size() - 1);
        const int period = gpus_per_node_ / std::gcd(axis.stride, gpus_per_node_);
        int step = 0;
        const auto walk_to = [&](int end) {
            for (; step < end; ++step)
                walk(inner, first + std::int64_t(step) * axis.stride);
        };
        if (axis.degree > 3 * period) {
            walk_to(period);
            const int before = nodes_;
            walk_to(2 * period);
            const int whole = (axis.degree - step) / period; // periods that are not walked
            nodes_ += whole * (nodes_ - before);
            node_ += std::int64_t(whole) * period * axis.stride / gpus_per_node_;
            step += whole * period;
        }
        walk_to(axis.degree);
    }
    [[nodiscard]] GroupSpan span(int size) const { return {size, nodes_, per_node_, 0, {}}; }

private:
    void add(std::int64_t rank)
    {
        const std::int64_t node = rank / gpus_per_node_;
        on_node_ = node == node_ ? on_node_ + 1 : 1;
        nodes_ += node != node_ ? 1 : 0;
        node_ = node;
        per_node_ = std::max(per_node_, on_node_);
    }

    int gpus_per_node_;
    std::int64_t node_ = -1;
    int on_node_ = 0, nodes_ = 0, per_node_ = 0;
};

// Where in its node a group may start: the sums of steps along the dimensions that it does not vary.
std::vector<bool> starts_of(std::span<const Degree> fixed, int gpus_per_node)
{
    std::vector<bool> starts(static_cast<std::size_t>(gpus_per_node), false);
    starts[0] = true;
    for (const Degree& axis : fixed) {
        const std::vector<bool> inner = starts;
        const int steps = std::min(axis.degree, gpus_per_node); // further ones repeat
        for (std::size_t start = 0; start < inner.size(); ++start) {
            for (int step = 1; inner[start] && step < steps; ++step)
                starts[(start + static_cast<std::size_t>(step) * static_cast<std::size_t>(axis.stride)) % inner.size()]
                    = true;
        }
    }
    return starts;
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
    std::array<Degree, kDimensions.size()> all;
    std::size_t varied = 0, fixed = 0; // innermost first from the front; from the back
    for (const Dimension dimension : layout.order) {
        const Degree axis{layout.degree(dimension), layout.stride(dimension)};
        if (axis.degree <= 1)
            continue;
        const bool varies = std::find(dimensions.begin(), dimensions.end(), dimension) != dimensions.end();
        all[varies ? varied++ : all.size() - ++fixed] = axis;
    }
    const auto axes = std::span<const Degree>(all).first(varied);
    GroupSpan worst;
    bool regular = true;
    for (const Degree& axis : axes) {
        worst.size *= axis.degree;
        worst.per_node *= ranks_inside_node(axis, gpus_per_node);
        regular = regular && nests(axis, gpus_per_node);
    }
    if (regular) {
        worst.nodes = worst.size / worst.per_node;
        return worst;
    }

    // How a group falls on nodes depends only on where in its node it starts.
    const std::vector<bool> starts = starts_of(std::span<const Degree>(all).last(fixed), gpus_per_node);
    worst.nodes = 0;
    for (std::size_t start = 0; start < starts.size(); ++start) {
        if (!starts[start])
            continue;
        NodeCount count(gpus_per_node);
        count.walk(axes, std::int64_t(start));
        const GroupSpan here = count.span(worst.size);
        if (worst.nodes == 0 || worse(here, worst))
            worst = here;
    }
    return worst;
}

} // namespace fourfold
