// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/mesh.h"

#include <algorithm>

namespace fourfold {

namespace {
using Dimensions = std::vector<Dimension>;
const Dimensions kOfTp{Dimension::tp}, kOfCp{Dimension::cp}, kOfPp{Dimension::pp}, kOfDp{Dimension::dp};
const Dimensions kOfReplicas{Dimension::cp, Dimension::dp}, kOfStage{Dimension::tp, Dimension::cp, Dimension::dp};

struct GroupRow {
    std::string_view name;
    std::vector<Axis> axes;
};

// In the order of GroupKind.
const std::array<GroupRow, kGroupKinds>& group_rows()
{
    static const std::array<GroupRow, kGroupKinds> kRows{{
        {"", {}},
        {"tp", {Axis::tp}},
        {"cp", {Axis::cp}},
        {"pp", {Axis::pp}},
        {"dp_without_cp", {Axis::dp}},
        {"dp", {Axis::dp, Axis::cp}},
        {"ep", {Axis::ep}},
        {"etp", {Axis::etp}},
        {"tp_pp", {Axis::tp, Axis::pp}},
        {"dp_shard", {Axis::dp_shard}},
        {"dp_replicate", {Axis::dp_replicate}},
        {"expert_dp", {Axis::edp_shard, Axis::edp_replicate}},
        {"expert_shard", {Axis::edp_shard}},
        {"expert_replicate", {Axis::edp_replicate}},
        {"kv", {Axis::keys}},
        {"world", {Axis::tp, Axis::cp, Axis::pp, Axis::dp}},
    }};
    return kRows;
}
} // namespace

std::string_view name(GroupKind group)
{
    return group_rows()[static_cast<std::size_t>(group)].name;
}

std::span<const Axis> axes(GroupKind group)
{
    return group_rows()[static_cast<std::size_t>(group)].axes;
}

DeviceMesh::DeviceMesh(const Layout& layout, int kv_heads)
    : layout_(layout)
{
    const int replicas = layout.dp * layout.cp, stage = replicas * layout.tp;
    const int keys = std::max(1, layout.tp / std::max(1, kv_heads));
    const int shard = std::clamp(layout.dp_shard, 1, std::max(1, replicas)), copies = replicas / shard;
    const int etp = std::max(1, layout.etp), expert = etp * std::max(1, layout.ep);
    const int expert_replicas = (stage + expert - 1) / expert;
    const int expert_copies = expert_replicas % copies == 0 ? copies : 1;
    const int expert_shard = expert_replicas / expert_copies;
    cuts_ = {{{&kOfTp, 1, layout.tp}, {&kOfCp, 1, layout.cp}, {&kOfPp, 1, layout.pp}, {&kOfDp, 1, layout.dp},
        {&kOfTp, 1, keys}, {&kOfTp, keys, layout.tp / keys}, {&kOfReplicas, 1, shard}, {&kOfReplicas, shard, copies},
        {&kOfStage, 1, etp}, {&kOfStage, etp, expert / etp}, {&kOfStage, expert, expert_shard},
        {&kOfStage, expert * expert_shard, expert_copies}}};
}

// Among the ranks that `base` spans, in ascending order.
int DeviceMesh::position(int rank, const std::vector<Dimension>& base) const
{
    const Coordinates at = layout_.coordinates(rank);
    int position = 0, inner = 1;
    for (const Dimension dimension : layout_.order) {
        if (std::ranges::find(base, dimension) == base.end())
            continue;
        position += at.get(dimension) * inner;
        inner *= layout_.degree(dimension);
    }
    return position;
}

int DeviceMesh::coordinate(int rank, Axis axis) const
{
    const Cut& own = cut(axis);
    return position(rank, *own.base) / own.stride % own.degree;
}

std::vector<int> DeviceMesh::group(int rank, std::span<const Axis> axes) const
{
    std::vector<int> ranks{rank};
    for (auto axis = axes.begin(); axis != axes.end(); ++axis) {
        const std::vector<Dimension>& base = *cut(*axis).base;
        const auto shares = [&](Axis other) { return cut(other).base == &base; };
        if (std::any_of(axes.begin(), axis, shares))
            continue; // taken with the first of them
        const std::vector<int> all = layout_.group(rank, base);
        std::vector<std::size_t> places{std::size_t(position(rank, base))};
        for (const Axis sibling : axes) {
            if (!shares(sibling))
                continue;
            const auto stride = std::size_t(cut(sibling).stride);
            for (std::size_t& place : places)
                place -= std::size_t(coordinate(rank, sibling)) * stride;
            const std::size_t inner = places.size();
            for (int step = 1; step < degree(sibling); ++step)
                for (std::size_t i = 0; i < inner; ++i)
                    places.push_back(places[i] + std::size_t(step) * stride);
        }
        // A step along one base is the same step of ranks wherever the rank stands along the others.
        std::vector<int> wider;
        wider.reserve(ranks.size() * places.size());
        for (const std::size_t place : places)
            for (std::size_t i = 0; place < all.size() && i < ranks.size(); ++i)
                wider.push_back(ranks[i] + all[place] - rank);
        ranks = std::move(wider);
    }
    std::ranges::sort(ranks);
    return ranks;
}

} // namespace fourfold
