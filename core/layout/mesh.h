// SPDX-License-Identifier: GPL-3.0-or-later
// One mesh of ranks with named axes, for planner and trainer: which ranks form a group, and what it is called.
#pragma once

#include "core/layout/layout.h"

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace fourfold {

// The ranks are factored several times over, each row innermost first; the axes of one row span groups together.
//   tp, cp, pp, dp (in the layout's order): who computes what;
//   keys, heads: tp once more. Where it exceeds the key/value heads, `keys` ranks hold the same ones;
//   dp_shard, dp_replicate: dp x cp once more, as states are sharded over both (HSDP; else dp_shard is all of them);
//   etp, ep, edp_shard, edp_replicate: all ranks of a pipeline stage once more, for the experts.
enum class Axis { tp, cp, pp, dp, keys, heads, dp_shard, dp_replicate, etp, ep, edp_shard, edp_replicate };
// Both name every rank once: who holds which dense weights, who holds which experts.
inline constexpr std::array kDenseAxes{Axis::keys, Axis::heads, Axis::dp_shard, Axis::dp_replicate, Axis::pp};
inline constexpr std::array kExpertAxes{Axis::etp, Axis::ep, Axis::edp_shard, Axis::edp_replicate, Axis::pp};

// The groups that communicate. dp_shard and dp_replicate split dp_cp for HSDP; expert_dp holds the copies of one
// expert. tp_keys: the tp ranks that hold copies of the same key and value heads.
// expert_shard and expert_replicate split those as dp_shard and dp_replicate do.
enum class GroupKind {
    none,
    tp,
    cp,
    pp,
    dp,
    dp_cp,
    ep,
    etp,
    tp_pp,
    dp_shard,
    dp_replicate,
    expert_dp,
    expert_shard,
    expert_replicate,
    tp_keys,
    world
};
inline constexpr std::size_t kGroupKinds = static_cast<std::size_t>(GroupKind::world) + 1;
std::string_view name(GroupKind group); // as in the trainer's events: "tp"; "dp" for dp_cp, "kv" for tp_keys
std::span<const Axis> axes(GroupKind group);

class DeviceMesh {
public:
    // `kv_heads`: of the model; it decides how tp is factored.
    DeviceMesh(const Layout& layout, int kv_heads);

    [[nodiscard]] int degree(Axis axis) const { return cut(axis).degree; }
    [[nodiscard]] int coordinate(int rank, Axis axis) const;
    // The global ranks that differ from `rank` along these axes alone, ascending. Precondition: no two of the axes
    // factor the same dimension in different rows. Where degrees do not divide (check() refuses such a plan) the last
    // groups are shorter.
    [[nodiscard]] std::vector<int> group(int rank, std::span<const Axis> axes) const;
    [[nodiscard]] std::vector<int> group(int rank, GroupKind group) const { return this->group(rank, axes(group)); }

private:
    // `degree` places, `stride` apart, among the ranks that `base` spans in ascending order.
    struct Cut {
        const std::vector<Dimension>* base = nullptr;
        int stride = 1, degree = 1;
    };
    [[nodiscard]] int position(int rank, const std::vector<Dimension>& base) const;
    [[nodiscard]] const Cut& cut(Axis axis) const { return cuts_[static_cast<std::size_t>(axis)]; }

    Layout layout_;
    std::array<Cut, 12> cuts_;
};

} // namespace fourfold
