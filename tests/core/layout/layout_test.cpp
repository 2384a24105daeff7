// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace fourfold {
namespace {
using enum Dimension;

Layout mesh(int tp_degree, int cp_degree, int pp_degree, int dp_degree, std::array<Dimension, 4> order = kDimensions)
{
    Layout layout;
    layout.tp = tp_degree;
    layout.cp = cp_degree;
    layout.pp = pp_degree;
    layout.dp = dp_degree;
    layout.order = order;
    return layout;
}

std::vector<std::array<Dimension, 4>> all_orders()
{
    std::array<Dimension, 4> order = kDimensions;
    std::sort(order.begin(), order.end());
    std::vector<std::array<Dimension, 4>> out;
    do
        out.push_back(order);
    while (std::next_permutation(order.begin(), order.end()));
    return out;
}

// Every layout with a product of at most `most`, in every order.
template <typename Visit>
void for_each_layout(int most, const Visit& visit)
{
    for (const auto& order : all_orders())
        for (int a = 1; a <= most; ++a)
            for (int b = 1; a * b <= most; ++b)
                for (int c = 1; a * b * c <= most; ++c)
                    for (int d = 1; a * b * c * d <= most; ++d)
                        visit(mesh(a, b, c, d, order));
}

TEST(Layout, PeersOfGpuZeroInTheDefaultOrder)
{
    const Layout layout = mesh(2, 2, 2, 2);
    EXPECT_EQ(layout.group(0, {tp}), (std::vector<int>{0, 1}));
    EXPECT_EQ(layout.group(0, {cp}), (std::vector<int>{0, 2}));
    EXPECT_EQ(layout.group(0, {pp}), (std::vector<int>{0, 4}));
    EXPECT_EQ(layout.group(0, {dp}), (std::vector<int>{0, 8}));
}

TEST(Layout, PeersOfGpuZeroInTheOrderOfMegatron)
{
    const Layout layout = mesh(2, 2, 2, 2, {tp, cp, dp, pp});
    EXPECT_EQ(layout.group(0, {tp}), (std::vector<int>{0, 1}));
    EXPECT_EQ(layout.group(0, {cp}), (std::vector<int>{0, 2}));
    EXPECT_EQ(layout.group(0, {dp}), (std::vector<int>{0, 4}));
    EXPECT_EQ(layout.group(0, {pp}), (std::vector<int>{0, 8}));
}

TEST(Layout, GroupsOfSeveralDimensionsFollowTheOrder)
{
    const Layout layout = mesh(2, 2, 2, 2);
    EXPECT_EQ(layout.group(5, {dp, cp}), (std::vector<int>{5, 7, 13, 15}));
    EXPECT_EQ(layout.group(5, {cp, dp}), layout.group(5, {dp, cp}));
    EXPECT_EQ(layout.group(5, {}), std::vector<int>{5});
    EXPECT_EQ(layout.group(9, {tp, cp, pp, dp}).size(), 16u);
}

TEST(Layout, UnevenDegrees)
{
    const Layout layout = mesh(4, 1, 3, 2);
    EXPECT_EQ(layout.coordinates(17), (Coordinates{1, 0, 1, 1}));
    EXPECT_EQ(layout.rank({1, 0, 1, 1}), 17);
    EXPECT_EQ(layout.stride(pp), 4);
    EXPECT_EQ(layout.stride(dp), 12);
    EXPECT_EQ(layout.group(5, {pp}), (std::vector<int>{1, 5, 9}));
}

TEST(Layout, RanksAndCoordinatesAreABijection)
{
    int layouts = 0, wrong = 0;
    for_each_layout(64, [&](const Layout& layout) {
        ++layouts;
        std::set<std::array<int, 4>> seen;
        for (int rank = 0; rank < layout.gpus(); ++rank) {
            const Coordinates at = layout.coordinates(rank);
            const bool inside = at.tp < layout.tp && at.cp < layout.cp && at.pp < layout.pp && at.dp < layout.dp
                && at.tp >= 0 && at.cp >= 0 && at.pp >= 0 && at.dp >= 0;
            wrong += !inside || layout.rank(at) != rank || !seen.insert({at.tp, at.cp, at.pp, at.dp}).second;
        }
    });
    EXPECT_EQ(wrong, 0);
    EXPECT_GT(layouts, 24 * 1000);
}

TEST(Layout, GroupsPartitionTheRanks)
{
    const std::vector<std::vector<Dimension>> kinds{{tp}, {cp}, {pp}, {dp}, {dp, cp}, {tp, pp}, {tp, cp, dp}};
    int wrong = 0;
    for_each_layout(24, [&](const Layout& layout) {
        for (const auto& dimensions : kinds) {
            std::size_t size = 1;
            for (const Dimension dimension : dimensions)
                size *= static_cast<std::size_t>(layout.degree(dimension));
            std::vector<int> group_of(static_cast<std::size_t>(layout.gpus()), -1);
            for (int rank = 0; rank < layout.gpus(); ++rank) {
                const std::vector<int> group = layout.group(rank, dimensions);
                wrong += group.size() != size || !std::is_sorted(group.begin(), group.end());
                wrong += std::find(group.begin(), group.end(), rank) == group.end();
                for (const int peer : group) {
                    // Every member names the same group: no rank is in two of them.
                    int& owner = group_of[static_cast<std::size_t>(peer)];
                    wrong += owner != -1 && owner != group.front();
                    owner = group.front();
                }
            }
            wrong += std::count(group_of.begin(), group_of.end(), -1) != 0;
        }
    });
    EXPECT_EQ(wrong, 0);
}

TEST(Layout, Names)
{
    EXPECT_EQ(name(tp), "tp");
    EXPECT_EQ(name(cp), "cp");
    EXPECT_EQ(name(pp), "pp");
    EXPECT_EQ(name(dp), "dp");
}

} // namespace
} // namespace fourfold
