// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/points.h"

#include <algorithm>
#include <cmath>

namespace fourfold::view {

RowPoints::RowPoints(std::vector<RowPoint> points)
    : points_(std::move(points))
{
    std::erase_if(points_, [](const RowPoint& point) { return !std::isfinite(point.x) || !std::isfinite(point.y); });
    std::ranges::stable_sort(points_, {}, &RowPoint::x);
}

const RowPoint* RowPoints::of(int row) const
{
    const auto found = std::ranges::find(points_, row, &RowPoint::row);
    return found == points_.end() ? nullptr : &*found;
}

int RowPoints::beside(int row, int step) const
{
    if (points_.empty())
        return -1;
    const RowPoint* const at = of(row);
    const auto last = std::ssize(points_) - 1;
    const std::ptrdiff_t next = at == nullptr ? (step > 0 ? 0 : last) : at - points_.data() + step;
    return points_[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(next, 0, last))].row;
}

} // namespace fourfold::view
