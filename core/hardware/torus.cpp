// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/hardware/torus.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace fourfold {
namespace {

// Boxes of exactly `chips` chips whose axes fit the sorted `limits`; the one with the smallest sum of axes.
std::array<int, kTorusAxes> shortest_box(int chips, const std::array<int, kTorusAxes>& limits)
{
    std::array<int, kTorusAxes> best{};
    int least = std::numeric_limits<int>::max();
    for (int a = 1; a <= limits[0] && a <= chips; ++a) {
        if (chips % a != 0)
            continue;
        for (int b = a; b <= limits[1] && a * b <= chips; ++b) {
            const int c = chips / a / b;
            if (chips % (a * b) != 0 || c < b || c > limits[2] || a + b + c >= least)
                continue;
            least = a + b + c;
            best = {a, b, c};
        }
    }
    return best;
}

std::array<int, kTorusAxes> ascending(std::array<int, kTorusAxes> axes)
{
    std::sort(axes.begin(), axes.end());
    return axes;
}

// Axes of length 1 behind the others, which keep their order.
std::array<int, kTorusAxes> real_axes_first(std::array<int, kTorusAxes> axes)
{
    std::stable_partition(axes.begin(), axes.end(), [](int length) { return length > 1; });
    return axes;
}

} // namespace

int TorusShape::dimensions() const
{
    return int(std::count_if(axes.begin(), axes.end(), [](int length) { return length > 1; }));
}

double GroupAxis::links() const
{
    if (ranks <= 1)
        return 0;
    return (closed && ranks > 2 ? 2.0 : 1.0) / spacing;
}

TorusShape balanced_torus(int chips, int dimensions)
{
    TorusShape shape;
    const std::array<int, kTorusAxes> limits{dimensions >= 3 ? chips : 1, dimensions >= 2 ? chips : 1, chips};
    shape.axes = real_axes_first(shortest_box(std::max(1, chips), limits));
    return shape;
}

TorusShape torus_slice(const TorusShape& pod, int chips)
{
    TorusShape slice = pod;
    const auto limits = ascending(pod.axes);
    const auto box = shortest_box(std::max(1, chips), limits);
    slice.axes = real_axes_first(box[0] > 0 ? box : limits);
    if (slice.closes_at == 0) // whole axes only; of unequal ones the longest
        slice.closes_at = limits.back();
    return slice;
}

GroupAxes group_axes(const std::vector<int>& ranks, const TorusShape& slice)
{
    GroupAxes group;
    int stride = 1;
    for (std::size_t axis = 0; axis < group.size(); ++axis) {
        const int length = slice.axes[axis];
        std::vector<int> places;
        places.reserve(ranks.size());
        for (const int rank : ranks)
            places.push_back(rank / stride % length);
        std::sort(places.begin(), places.end());
        places.erase(std::unique(places.begin(), places.end()), places.end());
        int spacing = length;
        for (std::size_t i = 1; i < places.size(); ++i)
            spacing = std::min(spacing, places[i] - places[i - 1]);
        GroupAxis& along = group[axis];
        if (places.size() > 1) {
            along.ranks = std::int32_t(places.size());
            along.spacing = spacing;
            along.closed = along.ranks * spacing == length && slice.closes_at > 0 && length % slice.closes_at == 0;
        }
        stride *= length;
    }
    return group;
}

double gather_links(const GroupAxes& axes)
{
    return std::accumulate(
        axes.begin(), axes.end(), 0.0, [](double sum, const GroupAxis& axis) { return sum + axis.links(); });
}

double exchange_load(const GroupAxes& axes)
{
    double load = 0;
    for (const GroupAxis& axis : axes) {
        const double k = axis.ranks;
        if (axis.ranks <= 1)
            continue;
        // A ring sends each message the shorter way: k^2 / 4 hops over all distances (odd: (k^2 - 1) / 4), half in each
        // direction. On a line the middle link is crossed by every message from one half to the other.
        const double halves = double(axis.ranks / 2) * ((axis.ranks + 1) / 2);
        load = std::max(load, (axis.closed && axis.ranks > 2 ? halves / 2 : halves) / k * axis.spacing);
    }
    return load;
}

int hops(const GroupAxes& axes)
{
    int sum = 0;
    for (const GroupAxis& axis : axes)
        sum += (axis.closed ? axis.ranks / 2 : axis.ranks - 1) * axis.spacing;
    return sum;
}

} // namespace fourfold
