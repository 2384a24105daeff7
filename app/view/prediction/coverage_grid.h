// SPDX-License-Identifier: GPL-3.0-or-later
// How much of a row's time each kind of bar takes up to any moment: what a picture of far more bars than pixels is
// drawn from, at a cost that does not grow with the bars.
#pragma once

#include "app/view/prediction/bar_kind.h"

#include <array>
#include <span>
#include <vector>

namespace fourfold::view {

struct TimelineBar;

class CoverageGrid {
public:
    CoverageGrid() = default;
    // Of bars by start that lie in [0, length]. Few bars get none: looking at each is as fast.
    CoverageGrid(std::span<const TimelineBar> bars, double length);

    // Whether a column of this many seconds can be drawn from it.
    [[nodiscard]] bool is_fine(double column_s) const { return bins_ > 0 && column_s >= kBinsInColumn * bin_s_; }
    using Coverage = std::array<float, kBarKinds>;
    // Adds to each column of [begin, end) what is covered of it, by kind; overlapping bars count each.
    void add(double begin, double end, std::span<Coverage> columns) const;

private:
    static constexpr double kBinsInColumn = 2;
    [[nodiscard]] double covered(std::size_t kind, double time_s) const; // bins, from the beginning

    std::size_t bins_ = 0;
    double bin_s_ = 0;
    std::vector<std::size_t> kinds_; // that there are
    std::vector<float> sums_; // by kind, bins_ + 1 of each: bins covered before the bin
};

} // namespace fourfold::view
