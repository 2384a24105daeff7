// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/mesh.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace fourfold {
namespace {

using Ranks = std::vector<int>;

// 2 x 2 x 2 x 4 GPUs; HSDP over 4 of the 8 replicas; 4 experts' ranks of 2.
Layout example_mesh()
{
    Layout layout;
    layout.tp = layout.cp = layout.pp = 2;
    layout.dp = 4;
    layout.dp_shard = 4;
    layout.ep = 4;
    layout.etp = 2;
    return layout;
}

template <std::size_t kSize>
std::vector<int> coordinates(const DeviceMesh& mesh, int rank, const std::array<Axis, kSize>& factoring)
{
    std::vector<int> at;
    for (const Axis axis : factoring)
        at.push_back(mesh.coordinate(rank, axis));
    return at;
}

TEST(DeviceMesh, GroupsOfAnExample)
{
    const DeviceMesh mesh(example_mesh(), 1);
    EXPECT_EQ(mesh.group(0, GroupKind::tp), (Ranks{0, 1}));
    EXPECT_EQ(mesh.group(0, GroupKind::dp_cp), (Ranks{0, 2, 8, 10, 16, 18, 24, 26}));
    EXPECT_EQ(mesh.group(0, GroupKind::dp_shard), (Ranks{0, 2, 8, 10}));
    EXPECT_EQ(mesh.group(26, GroupKind::dp_shard), (Ranks{16, 18, 24, 26}));
    EXPECT_EQ(mesh.group(26, GroupKind::dp_replicate), (Ranks{10, 26}));
    // Of the 16 ranks of the second stage: two share an expert, four pairs hold different ones.
    EXPECT_EQ(mesh.group(5, GroupKind::ep), (Ranks{5, 7, 13, 15}));
    EXPECT_EQ(mesh.group(5, GroupKind::expert_dp), (Ranks{5, 21}));
    EXPECT_EQ(mesh.group(5, GroupKind::etp), (Ranks{4, 5}));
    EXPECT_EQ(mesh.group(5, GroupKind::expert_shard), Ranks{5});
    EXPECT_EQ(mesh.group(5, GroupKind::expert_replicate), (Ranks{5, 21}));
    EXPECT_EQ(mesh.group(5, GroupKind::tp_pp), (Ranks{0, 1, 4, 5}));
    EXPECT_EQ(mesh.group(5, GroupKind::tp_keys), (Ranks{4, 5}));
    EXPECT_EQ(mesh.group(5, GroupKind::none), Ranks{5});
    EXPECT_EQ(mesh.group(31, GroupKind::world).size(), 32u);
}

TEST(DeviceMesh, AShardGroupMayCutThroughContextParallelism)
{
    Layout layout;
    layout.cp = 3;
    layout.dp = 2;
    layout.dp_shard = 2;
    const DeviceMesh mesh(layout, 1);
    EXPECT_EQ(mesh.group(3, GroupKind::dp_shard), (Ranks{2, 3}));
    EXPECT_EQ(mesh.group(3, GroupKind::dp_replicate), (Ranks{1, 3, 5}));
}

TEST(DeviceMesh, KeysAndHeadsAreTensorParallelismOnceMore)
{
    Layout layout;
    layout.tp = 8;
    const DeviceMesh mesh(layout, 2);
    EXPECT_EQ(mesh.group(5, GroupKind::tp_keys), (Ranks{4, 5, 6, 7}));
    EXPECT_EQ(mesh.degree(Axis::heads), 2);
    EXPECT_EQ(DeviceMesh(layout, 16).degree(Axis::keys), 1);
}

TEST(DeviceMesh, WhereDegreesDoNotDivideTheLastGroupsAreShorter)
{
    Layout layout;
    layout.dp = 6;
    layout.ep = 4;
    layout.dp_shard = 4;
    const DeviceMesh mesh(layout, 1);
    EXPECT_EQ(mesh.group(0, GroupKind::ep), (Ranks{0, 1, 2, 3}));
    EXPECT_EQ(mesh.group(0, GroupKind::expert_dp), (Ranks{0, 4}));
    EXPECT_EQ(mesh.group(0, GroupKind::dp_replicate), Ranks{0});
    EXPECT_EQ(mesh.group(5, GroupKind::dp_shard), (Ranks{4, 5}));
}

// In every order: each factoring names every rank once, and groups are where all other coordinates agree.
TEST(DeviceMesh, BothFactoringsNameEveryRankOnce)
{
    Layout layout = example_mesh();
    std::ranges::sort(layout.order);
    do {
        const DeviceMesh mesh(layout, 1);
        const auto holds = [&](const auto& factoring) {
            std::set<std::vector<int>> seen;
            for (int rank = 0; rank < layout.gpus(); ++rank) {
                seen.insert(coordinates(mesh, rank, factoring));
                for (std::size_t axis = 0; axis < factoring.size(); ++axis) {
                    Ranks same;
                    for (int other = 0; other < layout.gpus(); ++other) {
                        auto own = coordinates(mesh, rank, factoring), others = coordinates(mesh, other, factoring);
                        own[axis] = others[axis];
                        if (own == others)
                            same.push_back(other);
                    }
                    EXPECT_EQ(mesh.group(rank, std::span(&factoring[axis], 1)), same);
                }
            }
            EXPECT_EQ(seen.size(), std::size_t(layout.gpus()));
        };
        holds(kDenseAxes);
        holds(kExpertAxes);
    } while (std::ranges::next_permutation(layout.order).found);
}

TEST(DeviceMesh, NamesOfGroups)
{
    EXPECT_EQ(name(GroupKind::tp), "tp");
    EXPECT_EQ(name(GroupKind::dp_cp), "dp");
    EXPECT_EQ(name(GroupKind::tp_keys), "kv");
    EXPECT_EQ(name(GroupKind::world), "world");
}

} // namespace
} // namespace fourfold
