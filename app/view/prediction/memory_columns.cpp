// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/prediction/memory_columns.h"

#include <algorithm>

namespace fourfold::view {

std::vector<KindBytes> memory_columns(const MemoryCurve& curve, double length_s, int columns)
{
    std::vector<KindBytes> most(static_cast<std::size_t>(std::max(1, columns)));
    std::vector<double> totals(most.size(), -1);
    const double per_second = double(most.size()) / length_s;
    for (const MemoryPoint& point : curve.points) {
        const auto first = static_cast<std::size_t>(std::max(0.0, point.start_s * per_second));
        const auto last = std::min(most.size() - 1, static_cast<std::size_t>(std::max(0.0, point.end_s * per_second)));
        for (std::size_t x = first; x <= last; ++x) {
            if (point.total() > totals[x]) {
                totals[x] = point.total();
                most[x] = point.gib;
            }
        }
    }
    return most;
}

double memory_top(const MemoryCurve& curve, double usable_gib)
{
    const double tallest = std::max(curve.peak_gib + curve.beyond_gib, 1e-6);
    return (usable_gib > 0 && tallest * 5 >= usable_gib ? std::max(tallest, usable_gib) : tallest) * 1.08;
}

bool shows_beyond(const MemoryCurve& curve)
{
    return curve.beyond_gib > 0.005 * curve.peak_gib;
}

const MemoryPoint* memory_point_at(const MemoryCurve& curve, double seconds)
{
    const auto after = std::upper_bound(curve.points.begin(), curve.points.end(), seconds,
        [](double time, const MemoryPoint& point) { return time < point.start_s; });
    return after == curve.points.begin() ? nullptr : &*(after - 1);
}

double next_memory_action(const MemoryCurve& curve, double seconds, int step)
{
    const MemoryPoint* const point = memory_point_at(curve, seconds);
    if (point == nullptr)
        return seconds;
    const auto last = static_cast<std::ptrdiff_t>(curve.points.size()) - 1;
    const auto index = std::clamp<std::ptrdiff_t>(point - curve.points.data() + step, 0, last);
    return curve.points[static_cast<std::size_t>(index)].start_s;
}

} // namespace fourfold::view
