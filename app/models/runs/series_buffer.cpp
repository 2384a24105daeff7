// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/runs/series_buffer.h"

#include <algorithm>

namespace fourfold::ui {

// While a bucket holds one value it is one point; after the first halving it is two.
SeriesBuffer::SeriesBuffer(int maxPoints)
    : m_maxBuckets(static_cast<std::size_t>(std::max(4, maxPoints)))
{
}

void SeriesBuffer::append(double x, double y)
{
    const QPointF point(x, y);
    m_min = m_count == 0 ? y : std::min(m_min, y);
    m_max = m_count == 0 ? y : std::max(m_max, y);
    m_last = point;
    ++m_count;

    if (joinLast(point))
        return;
    if (m_buckets.size() >= (m_valuesPerBucket == 1 ? m_maxBuckets : m_maxBuckets / 2)) {
        halve();
        if (joinLast(point)) // an odd bucket at the end has room now
            return;
    }
    m_buckets.push_back({point, point, 1});
}

bool SeriesBuffer::joinLast(const QPointF& point)
{
    if (m_buckets.empty() || m_buckets.back().values >= m_valuesPerBucket)
        return false;
    Bucket& bucket = m_buckets.back();
    if (point.y() < bucket.low.y())
        bucket.low = point;
    if (point.y() >= bucket.high.y())
        bucket.high = point;
    ++bucket.values;
    return true;
}

void SeriesBuffer::clear()
{
    *this = SeriesBuffer(static_cast<int>(m_maxBuckets));
}

// Halves until the two points of each bucket fit.
void SeriesBuffer::halve()
{
    do {
        std::vector<Bucket> merged;
        merged.reserve(m_buckets.size() / 2 + 1);
        for (std::size_t i = 0; i < m_buckets.size(); i += 2) {
            Bucket bucket = m_buckets[i];
            if (i + 1 < m_buckets.size()) {
                const Bucket& next = m_buckets[i + 1];
                if (next.low.y() < bucket.low.y())
                    bucket.low = next.low;
                if (next.high.y() >= bucket.high.y())
                    bucket.high = next.high;
                bucket.values += next.values;
            }
            merged.push_back(bucket);
        }
        m_buckets.swap(merged);
        m_valuesPerBucket *= 2;
    } while (m_buckets.size() >= m_maxBuckets / 2);
}

QList<QPointF> SeriesBuffer::points() const
{
    QList<QPointF> points;
    points.reserve(static_cast<qsizetype>(m_buckets.size() * 2));
    for (const Bucket& bucket : m_buckets) {
        const bool lowFirst = bucket.low.x() <= bucket.high.x();
        points << (lowFirst ? bucket.low : bucket.high);
        if (bucket.low != bucket.high)
            points << (lowFirst ? bucket.high : bucket.low);
    }
    return points;
}

} // namespace fourfold::ui
