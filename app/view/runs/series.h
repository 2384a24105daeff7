// SPDX-License-Identifier: GPL-3.0-or-later
// A line of a live chart in bounded memory: values come for ever, the points to draw stay few. Extremes survive.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace fourfold::view {

class Series {
public:
    using Point = std::pair<double, double>; // x, y
    // Keeps at most `most` points (at least 4). Beyond that, neighbours merge to their minimum and maximum.
    explicit Series(std::size_t most = 500);
    void append(double x, double y); // x must not fall
    [[nodiscard]] bool empty() const { return count_ == 0; }
    [[nodiscard]] std::size_t count() const { return count_; } // values appended
    [[nodiscard]] const Point& last() const { return last_; }
    [[nodiscard]] double first() const { return first_; } // y
    [[nodiscard]] double maximum() const { return maximum_; }
    [[nodiscard]] std::vector<Point> points() const; // by x

private:
    // While it holds one value it is one point; after the first halving it is two.
    struct Bucket {
        Point low, high; // the values with smallest and largest y
        std::size_t values = 0;
        void take(const Bucket& next);
    };
    bool join_last(const Bucket& value);
    void halve();

    std::size_t most_, values_per_bucket_ = 1, count_ = 0;
    std::vector<Bucket> buckets_;
    Point last_;
    double first_ = 0, maximum_ = 0;
};

} // namespace fourfold::view
