// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/runs/series.h"

#include <algorithm>

namespace fourfold::view {

Series::Series(std::size_t most)
    : most_(std::max<std::size_t>(4, most))
{
}

void Series::Bucket::take(const Bucket& next)
{
    if (next.low.second < low.second)
        low = next.low;
    if (next.high.second >= high.second)
        high = next.high;
    values += next.values;
}

void Series::append(double x, double y)
{
    last_ = {x, y};
    maximum_ = count_ == 0 ? y : std::max(maximum_, y);
    if (count_++ == 0)
        first_ = y;
    const Bucket value{last_, last_, 1};
    if (join_last(value))
        return;
    if (buckets_.size() >= (values_per_bucket_ == 1 ? most_ : most_ / 2)) {
        halve();
        if (join_last(value)) // an odd bucket at the end has room now
            return;
    }
    buckets_.push_back(value);
}

bool Series::join_last(const Bucket& value)
{
    if (buckets_.empty() || buckets_.back().values >= values_per_bucket_)
        return false;
    buckets_.back().take(value);
    return true;
}

// Until the two points of each bucket fit.
void Series::halve()
{
    do {
        std::vector<Bucket> merged;
        merged.reserve(buckets_.size() / 2 + 1);
        for (std::size_t i = 0; i < buckets_.size(); ++i) {
            if (i % 2 == 0)
                merged.push_back(buckets_[i]);
            else
                merged.back().take(buckets_[i]);
        }
        buckets_.swap(merged);
        values_per_bucket_ *= 2;
    } while (buckets_.size() >= most_ / 2);
}

std::vector<Series::Point> Series::points() const
{
    std::vector<Point> points;
    points.reserve(buckets_.size() * 2);
    for (const Bucket& bucket : buckets_) {
        const bool low_first = bucket.low.first <= bucket.high.first;
        points.push_back(low_first ? bucket.low : bucket.high);
        if (bucket.low != bucket.high)
            points.push_back(low_first ? bucket.high : bucket.low);
    }
    return points;
}

} // namespace fourfold::view
