// SPDX-License-Identifier: GPL-3.0-or-later
// A line of a live chart in bounded memory: values come for ever, the points to draw stay few. Extremes survive.
#pragma once

#include <QList>
#include <QPointF>

#include <vector>

namespace fourfold::ui {

class SeriesBuffer {
public:
    // Keeps at most `maxPoints` points (at least 4). Beyond that, neighbours merge to their minimum and maximum.
    explicit SeriesBuffer(int maxPoints = 500);

    void append(double x, double y); // x must not fall
    void clear();
    [[nodiscard]] bool isEmpty() const { return m_count == 0; }
    [[nodiscard]] qint64 count() const { return m_count; } // values appended
    [[nodiscard]] QPointF last() const { return m_last; }
    [[nodiscard]] double minimum() const { return m_min; }
    [[nodiscard]] double maximum() const { return m_max; }
    [[nodiscard]] QList<QPointF> points() const; // by x

private:
    struct Bucket {
        QPointF low, high; // the values with smallest and largest y
        int values = 0;
    };
    bool joinLast(const QPointF& point);
    void halve();

    std::size_t m_maxBuckets;
    std::vector<Bucket> m_buckets;
    int m_valuesPerBucket = 1;
    qint64 m_count = 0;
    QPointF m_last;
    double m_min = 0, m_max = 0;
};

} // namespace fourfold::ui
