// SPDX-License-Identifier: GPL-3.0-or-later
// Points of a picture, each a row of a table: for who goes from one to the next, or points at one.
#pragma once

#include <utility>
#include <vector>

namespace fourfold::view {

struct RowPoint {
    int row = 0;
    double x = 0, y = 0;
};

class RowPoints {
public:
    RowPoints() = default;
    explicit RowPoints(std::vector<RowPoint> points); // in any order; those without a place are left out

    [[nodiscard]] const std::vector<RowPoint>& all() const { return points_; } // by x
    [[nodiscard]] bool empty() const { return points_.empty(); }
    [[nodiscard]] const RowPoint* of(int row) const; // null: it has none
    // The row whose point is `step` further along x, the last one at the ends. From a row without a point the first, or
    // the last where the step is negative. -1: there are no points.
    [[nodiscard]] int beside(int row, int step) const;
    // The row whose point is nearest, within `reach`; -1: none. `away`: how far a point is, across and down.
    template <typename Away>
    [[nodiscard]] int nearest(const Away& away, double reach) const
    {
        int nearest = -1;
        double best = reach * reach;
        for (const RowPoint& point : points_) {
            const std::pair<double, double> distance = away(point);
            const double square = distance.first * distance.first + distance.second * distance.second;
            if (square < best) {
                best = square;
                nearest = point.row;
            }
        }
        return nearest;
    }

private:
    std::vector<RowPoint> points_;
};

} // namespace fourfold::view
