// SPDX-License-Identifier: GPL-3.0-or-later
// Group spans against counting: every group of every layout, node by node.
#include "core/hardware/cluster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

namespace fourfold {
namespace {

constexpr int kMostGpus = 64;

GroupSpan counted(const Layout& layout, const std::vector<Dimension>& dimensions, int gpus_per_node)
{
    GroupSpan worst;
    worst.nodes = 0;
    for (int rank = 0; rank < layout.gpus(); ++rank) {
        const Coordinates at = layout.coordinates(rank);
        const bool first = std::all_of(
            dimensions.begin(), dimensions.end(), [&at](Dimension dimension) { return at.get(dimension) == 0; });
        if (!first)
            continue; // each group once, at its first rank
        std::array<int, kMostGpus> ranks_of_node{};
        GroupSpan here{0, 0, 0};
        for (const int member : layout.group(rank, dimensions)) {
            const int count = ++ranks_of_node[static_cast<std::size_t>(member / gpus_per_node)];
            ++here.size;
            here.nodes += count == 1;
            here.per_node = std::max(here.per_node, count);
        }
        if (here.nodes > worst.nodes || (here.nodes == worst.nodes && here.per_node < worst.per_node))
            worst = here;
    }
    return worst;
}

std::string describe(const Layout& layout, const std::vector<Dimension>& dimensions, int gpus_per_node)
{
    std::string text = "order";
    for (const Dimension dimension : layout.order)
        text += " " + std::string(name(dimension)) + "=" + std::to_string(layout.degree(dimension));
    text += ", group";
    for (const Dimension dimension : dimensions)
        text += " " + std::string(name(dimension));
    return text + ", " + std::to_string(gpus_per_node) + " per node";
}

// Orders that lay the layout's groups out differently: where a degree of 1 stands makes no difference.
std::vector<std::array<Dimension, 4>> orders_of(const Layout& layout)
{
    std::vector<std::array<Dimension, 4>> orders;
    std::set<std::vector<Dimension>> seen;
    std::array<Dimension, 4> order = kDimensions;
    std::sort(order.begin(), order.end());
    do {
        std::vector<Dimension> varied;
        std::copy_if(order.begin(), order.end(), std::back_inserter(varied),
            [&layout](Dimension dimension) { return layout.degree(dimension) > 1; });
        if (seen.insert(varied).second)
            orders.push_back(order);
    } while (std::next_permutation(order.begin(), order.end()));
    return orders;
}

struct Comparison {
    int compared = 0, wrong = 0;
};

// Every choice of dimensions whose degree is above 1.
void compare_groups(const Layout& layout, int gpus_per_node, Comparison& result)
{
    std::vector<Dimension> varied;
    std::copy_if(kDimensions.begin(), kDimensions.end(), std::back_inserter(varied),
        [&layout](Dimension dimension) { return layout.degree(dimension) > 1; });
    for (unsigned subset = 0; subset < 1u << varied.size(); ++subset) {
        std::vector<Dimension> dimensions;
        for (std::size_t i = 0; i < varied.size(); ++i) {
            if (subset >> i & 1)
                dimensions.push_back(varied[i]);
        }
        const GroupSpan fast = span(layout, dimensions, gpus_per_node);
        const GroupSpan slow = counted(layout, dimensions, gpus_per_node);
        ++result.compared;
        const bool equal = fast.size == slow.size && fast.nodes == slow.nodes && fast.per_node == slow.per_node;
        if (!equal && ++result.wrong <= 3) {
            ADD_FAILURE() << describe(layout, dimensions, gpus_per_node) << ": size " << fast.size << " nodes "
                          << fast.nodes << " per node " << fast.per_node << ", counted " << slow.size << " "
                          << slow.nodes << " " << slow.per_node;
        }
    }
}

Comparison compare_layouts(int most_gpus, const std::vector<int>& node_sizes)
{
    Comparison result;
    for (int tp = 1; tp <= most_gpus; ++tp) {
        for (int cp = 1; tp * cp <= most_gpus; ++cp) {
            for (int pp = 1; tp * cp * pp <= most_gpus; ++pp) {
                for (int dp = 1; tp * cp * pp * dp <= most_gpus; ++dp) {
                    Layout layout;
                    layout.tp = tp;
                    layout.cp = cp;
                    layout.pp = pp;
                    layout.dp = dp;
                    for (const auto& order : orders_of(layout)) {
                        layout.order = order;
                        for (const int gpus_per_node : node_sizes)
                            compare_groups(layout, gpus_per_node, result);
                    }
                }
            }
        }
    }
    return result;
}

TEST(Span, EqualsCountingForEveryLayoutAndOrder)
{
    const Comparison result = compare_layouts(kMostGpus, {4, 8});
    EXPECT_EQ(result.wrong, 0);
    EXPECT_GT(result.compared, 100000);
}

TEST(Span, EqualsCountingForOddNodes)
{
    const Comparison result = compare_layouts(24, {1, 3, 6, 7, 72});
    EXPECT_EQ(result.wrong, 0);
    EXPECT_GT(result.compared, 10000);
}

TEST(Span, TheOrderDecidesWhichGroupsCrossNodes)
{
    Layout layout;
    layout.tp = layout.cp = layout.pp = layout.dp = 2;
    layout.order = {Dimension::tp, Dimension::cp, Dimension::pp, Dimension::dp};
    EXPECT_FALSE(span(layout, {Dimension::pp}, 8).crosses_nodes());
    EXPECT_TRUE(span(layout, {Dimension::dp}, 8).crosses_nodes());
    layout.order = {Dimension::tp, Dimension::cp, Dimension::dp, Dimension::pp};
    EXPECT_TRUE(span(layout, {Dimension::pp}, 8).crosses_nodes());
    EXPECT_FALSE(span(layout, {Dimension::dp}, 8).crosses_nodes());
}

TEST(Span, OfAWholeNodePerReplica)
{
    Layout layout;
    layout.tp = 8;
    layout.dp = 64;
    const GroupSpan dp = span(layout, {Dimension::dp, Dimension::cp}, 8);
    EXPECT_EQ(dp.size, 64);
    EXPECT_EQ(dp.nodes, 64);
    EXPECT_EQ(dp.per_node, 1);
    const GroupSpan tp = span(layout, {Dimension::tp}, 8);
    EXPECT_EQ(tp.nodes, 1);
    EXPECT_EQ(tp.per_node, 8);
    const GroupSpan one = span(layout, {Dimension::cp}, 8);
    EXPECT_EQ(one.size, 1);
    EXPECT_EQ(one.nodes, 1);
}

} // namespace
} // namespace fourfold
