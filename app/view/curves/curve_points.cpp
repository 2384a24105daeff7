// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/curves/curve_points.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fourfold::view {

namespace {
// Column of a place that is within the range; the last one holds its end too.
int column_of(double x, const CurveRange& range, double per_unit, int pixels)
{
    return std::clamp(static_cast<int>((x - range.low) * per_unit), 0, pixels - 1);
}
} // namespace

void CurveRange::take(double value)
{
    low = std::min(low, value);
    high = std::max(high, value);
}

Smoother::Smoother(double weight)
    : weight_(std::clamp(weight, 0.0, kMost))
{
}

float Smoother::take(float value)
{
    if (std::isnan(value))
        return value;
    average_ = average_ * weight_ + (1 - weight_) * value;
    missing_ *= weight_;
    return static_cast<float>(average_ / (1 - missing_));
}

std::vector<CurvePoint> drawn_points(
    std::span<const double> x, std::span<const float> y, const CurveRange& range, int pixels)
{
    std::vector<CurvePoint> points;
    if (pixels < 1 || x.empty())
        return points;
    const double per_unit = range.length() > 0 ? pixels / range.length() : 0;
    points.reserve(std::min<std::size_t>(2 * x.size(), 2 * static_cast<std::size_t>(pixels) + 2));
    auto at = static_cast<std::size_t>(std::lower_bound(x.begin(), x.end(), range.low) - x.begin());
    for (std::size_t before = at; before-- > 0;) {
        if (!std::isnan(y[before])) {
            points.emplace_back(x[before], y[before]);
            break;
        }
    }
    while (at < x.size() && x[at] <= range.high) {
        const int column = column_of(x[at], range, per_unit, pixels);
        std::size_t low = x.size(), high = low;
        for (; at < x.size() && x[at] <= range.high && column_of(x[at], range, per_unit, pixels) == column; ++at) {
            if (std::isnan(y[at]))
                continue;
            if (low == x.size() || y[at] < y[low])
                low = at;
            if (high == x.size() || y[at] > y[high])
                high = at;
        }
        if (low == x.size())
            continue; // nothing but what is not there
        points.emplace_back(x[std::min(low, high)], y[std::min(low, high)]);
        if (low != high)
            points.emplace_back(x[std::max(low, high)], y[std::max(low, high)]);
    }
    for (; at < x.size(); ++at) {
        if (!std::isnan(y[at])) {
            points.emplace_back(x[at], y[at]);
            break;
        }
    }
    return points;
}

std::vector<double> column_means(
    std::span<const double> x, std::span<const float> y, const CurveRange& range, int pixels)
{
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> means(static_cast<std::size_t>(std::max(0, pixels)), kNone);
    if (means.empty() || x.empty())
        return means;
    const double width = range.length() / pixels;
    const double per_unit = width > 0 ? 1 / width : 0;
    std::vector<int> counts(means.size(), 0);
    CurvePoint last{kNone, kNone};
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (std::isnan(y[i]))
            continue;
        // Columns whose middle lies between two values and that hold none.
        if (!std::isnan(last.first) && x[i] > last.first && x[i] > range.low && last.first < range.high) {
            const double first = std::max(0.0, std::floor((last.first - range.low) * per_unit));
            const double end = std::min(double(pixels), std::ceil((x[i] - range.low) * per_unit));
            for (auto column = static_cast<std::size_t>(first); double(column) < end; ++column) {
                const double middle = range.low + (double(column) + 0.5) * width;
                if (counts[column] == 0 && middle > last.first && middle < x[i])
                    means[column] = last.second + (y[i] - last.second) * (middle - last.first) / (x[i] - last.first);
            }
        }
        last = {x[i], y[i]};
        if (!range.holds(x[i]))
            continue;
        const auto column = static_cast<std::size_t>(column_of(x[i], range, per_unit, pixels));
        means[column] = counts[column] == 0 ? y[i] : means[column] + y[i];
        ++counts[column];
    }
    for (std::size_t column = 0; column < means.size(); ++column) {
        if (counts[column] > 1)
            means[column] /= counts[column];
    }
    return means;
}

} // namespace fourfold::view
