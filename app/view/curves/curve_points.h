// SPDX-License-Identifier: GPL-3.0-or-later
// From the values of a run to what a chart of so many pixels shows of them: smoothed, and few enough to draw.
#pragma once

#include <span>
#include <utility>
#include <vector>

namespace fourfold::view {

using CurvePoint = std::pair<double, double>; // x, y

struct CurveRange {
    double low = 0, high = 0;
    [[nodiscard]] double length() const { return high - low; }
    [[nodiscard]] bool holds(double value) const { return value >= low && value <= high; }
    void take(double value);
    bool operator==(const CurveRange&) const = default;
};

// The exponential moving average of TensorBoard's scalars (vz_line_chart2, resmoothDataset()): it starts at the first
// value, not at 0. NaN, a value that is not there, stays and is passed over.
class Smoother {
public:
    static constexpr double kMost = 0.999;
    explicit Smoother(double weight); // of what was before, 0 ... kMost
    float take(float value);

private:
    double weight_, average_ = 0, missing_ = 1; // missing_: the weight that the values so far have not
};

// What a line over these values covers in each of `pixels` columns of `range`: the least and the greatest of the
// column, in the order in which they come, with the neighbours outside so that the line leaves the picture where it
// does. At most 2 * pixels + 2 points. `x` does not fall; NaN is left out.
std::vector<CurvePoint> drawn_points(
    std::span<const double> x, std::span<const float> y, const CurveRange& range, int pixels);

// The mean of the values in each of `pixels` columns, between two values what lies on the line between them; NaN
// before the first and behind the last.
std::vector<double> column_means(
    std::span<const double> x, std::span<const float> y, const CurveRange& range, int pixels);

} // namespace fourfold::view
