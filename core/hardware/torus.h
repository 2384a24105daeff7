// SPDX-License-Identifier: GPL-3.0-or-later
// Chips on a torus without switches (TPU pods): which links a group of ranks has to itself.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace fourfold {

inline constexpr int kTorusAxes = 3;

// The pod's shape, in chips; an axis of length 1 does not exist.
struct TorusShape {
    std::array<int, kTorusAxes> axes{1, 1, 1};
    // A job gets a box of chips. Its axis closes to a ring where its length is a multiple of this; 0: where it is the
    // pod's whole axis.
    int closes_at = 0;
    [[nodiscard]] int chips() const { return axes[0] * axes[1] * axes[2]; }
    [[nodiscard]] int dimensions() const;
};

// One axis as a group sees it: its `ranks` members along it, each `spacing` chips from the next. So many groups of the
// same kind lie interleaved on these links and share them.
struct GroupAxis {
    std::int32_t ranks = 1, spacing = 1;
    bool closed = false; // the group goes round the whole ring
    bool operator==(const GroupAxis&) const = default;
    // Links at full speed that a member sends into at once along this axis (a ring has two directions), interleaved
    // groups taken off. 0 for one rank.
    [[nodiscard]] double links() const;
};
using GroupAxes = std::array<GroupAxis, kTorusAxes>;

// The pod's shape for `chips` chips where a file does not give it: nearly equal axes.
TorusShape balanced_torus(int chips, int dimensions);

// The box of a job of `chips` chips in the pod: the one with the shortest axes that fits, axes ascending (ranks fill
// the first axis first). The pod itself where no box has exactly so many chips.
TorusShape torus_slice(const TorusShape& pod, int chips);

// How `ranks` (of one pod, counted from its first chip) lie along the axes of `slice`, from torus_slice().
GroupAxes group_axes(const std::vector<int>& ranks, const TorusShape& slice);

// Links at full speed that an all-gather or reduce-scatter of the group uses at once: all those of the axes it spans
// (Austin et al., "How to Scale Your Model", 2025, part 3: V / (axes * both directions)).
double gather_links(const GroupAxes& axes);
// All-to-all: time is bytes sent per rank * this / speed of one link. The busiest link of the longest axis decides: a
// ring of k carries k/8 of what a rank sends, a line k/4 (the same source: a quarter of an all-gather's time).
double exchange_load(const GroupAxes& axes);
// Hops to the farthest member, one axis after the other.
int hops(const GroupAxes& axes);

} // namespace fourfold
