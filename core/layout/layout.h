// SPDX-License-Identifier: GPL-3.0-or-later
// The 4D layout and its mesh algebra: which GPU is which (tp, cp, pp, dp).
#pragma once

#include "core/base/words.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace fourfold {

enum class Dimension { tp, cp, pp, dp };
inline constexpr std::array<Dimension, 4> kDimensions{Dimension::tp, Dimension::cp, Dimension::pp, Dimension::dp};
template <>
inline constexpr auto kWords<Dimension> = std::to_array<std::string_view>({"tp", "cp", "pp", "dp"});

// Position in the mesh, each coordinate counted from 0.
struct Coordinates {
    int tp = 0, cp = 0, pp = 0, dp = 0;
    bool operator==(const Coordinates&) const = default;
    [[nodiscard]] int get(Dimension dimension) const
    {
        switch (dimension) {
        case Dimension::tp:
            return tp;
        case Dimension::cp:
            return cp;
        case Dimension::pp:
            return pp;
        case Dimension::dp:
            break;
        }
        return dp;
    }
    void set(Dimension dimension, int value);
};

// Degrees of parallelism; every field is resolved (no "default" left).
// Invariant of a checked layout: tp * cp * pp * dp == gpus, and ep * etp divides tp * cp * dp.
struct Layout {
    int tp = 1, cp = 1, pp = 1, dp = 1;
    int ep = 1; // expert parallel, carved out of tp x cp x dp
    int etp = 1; // expert tensor parallel
    int virtual_stages = 1; // model chunks per pipeline rank (interleaved schedule)
    int dp_shard = 1; // HSDP: ranks that share one sharded copy; the other dp * cp / dp_shard replicate
    std::vector<int> stage_layers; // layers of each of the pp * virtual_stages chunks; see core/schedule/schedules.h
    std::array<Dimension, 4> order{Dimension::tp, Dimension::cp, Dimension::pp, Dimension::dp}; // innermost first

    [[nodiscard]] int degree(Dimension dimension) const { return Coordinates{tp, cp, pp, dp}.get(dimension); }
    [[nodiscard]] int gpus() const { return tp * cp * pp * dp; }

    // Distance in global ranks between two neighbours along `dimension` (the product of the degrees inside it).
    [[nodiscard]] int stride(Dimension dimension) const;
    // Mixed-radix bijection between global rank [0, gpus) and coordinates, by `order`.
    [[nodiscard]] Coordinates coordinates(int rank) const;
    [[nodiscard]] int rank(const Coordinates& at) const;
    // Global ranks of the group that contains `rank` and varies the given dimensions, in the order of `order`.
    // group(r, {dp, cp}) is the group over which gradients are reduced. Ascending.
    [[nodiscard]] std::vector<int> group(int rank, const std::vector<Dimension>& dimensions) const;
};

} // namespace fourfold
