// SPDX-License-Identifier: GPL-3.0-or-later
// From where to where an axis of a chart goes.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace fourfold {

struct ChartRange {
    double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();

    void take(double value) // what is no number is not shown
    {
        if (!std::isfinite(value))
            return;
        low = std::min(low, value);
        high = std::max(high, value);
    }
    // What a plot shows beside its points: zero, a band and a level, as its members of these names say.
    template <typename Plot>
    void take_marks(const Plot& plot)
    {
        if (plot.from_zero)
            take(0);
        if (plot.band) {
            take(plot.band->first);
            take(plot.band->second);
        }
        if (plot.level)
            take(*plot.level);
    }
    void open() // something to divide by
    {
        if (high > low)
            return;
        const double room = low == 0 ? 1 : std::abs(low) * 0.05;
        low -= room;
        high += room;
    }
    [[nodiscard]] bool is_there() const { return high >= low; }
    [[nodiscard]] bool holds(double value) const { return value >= low && value <= high; }
};

} // namespace fourfold
