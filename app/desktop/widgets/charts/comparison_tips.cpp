// SPDX-License-Identifier: GPL-3.0-or-later
// What the bars and points of a comparison's chart say under the pointer.
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/charts/comparison_chart.h"
#include "app/models/shared/text.h"

#include <QChart>
#include <QChartView>
#include <QLineF>
#include <QXYSeries>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
constexpr int kPointReach = 12; // pixels at 100 % zoom
constexpr std::size_t kMostSpoken = 6; // bars or curves, of which the words tell
} // namespace

QString ComparisonChart::tipOfBars(const QPointF& value) const
{
    const auto category = static_cast<qsizetype>(std::floor(value.x() + 0.5));
    if (category < 0 || category >= m_categories.size())
        return {};
    QStringList lines{QStringLiteral("%1 %2").arg(category + 1).arg(m_categories[category])};
    double sum = 0;
    for (const BarSet& set : m_sets) {
        const auto at = static_cast<std::size_t>(category);
        if (at >= set.values.size() || !std::isfinite(set.values[at]) || (m_stacked && set.values[at] == 0))
            continue;
        sum += set.values[at];
        lines << tr("%1: %2 %3").arg(set.name, significant(set.values[at]), m_unit);
    }
    if (m_stacked && lines.size() > 1)
        lines << tr("Together: %1 %2").arg(significant(sum), m_unit);
    return lines.join(QLatin1Char('\n'));
}

QString ComparisonChart::tipOfCurves(const QPointF& inChart) const
{
    double nearest = px(kPointReach);
    QString tip;
    const QList<QAbstractSeries*> series = m_chart->series();
    for (qsizetype i = 0; i < series.size(); ++i) {
        const CurveSeries& curve = m_curves[static_cast<std::size_t>(i)];
        for (const QPointF& point : curve.points) {
            const double away = QLineF(m_chart->mapToPosition(point, series[i]), inChart).length();
            if (away >= nearest)
                continue;
            nearest = away;
            tip = tr("%1\n%2 %3: %4 %5").arg(curve.name, grouped(point.x()), m_xName, significant(point.y()), m_unit);
        }
    }
    return tip;
}

QString ComparisonChart::spokenWords() const
{
    const std::size_t all = m_curves.empty() ? static_cast<std::size_t>(m_categories.size()) : m_curves.size();
    QStringList words;
    for (std::size_t i = 0; i < std::min(all, kMostSpoken); ++i) {
        if (m_curves.empty()) {
            words << tipOfBars(QPointF(double(i), 0)).replace(QLatin1Char('\n'), QStringLiteral(", "));
            continue;
        }
        const auto& [name, points, measured] = m_curves[i];
        if (!points.isEmpty())
            words << tr("%1: %2 %3 at %4 %5, %6 at %7")
                         .arg(name, significant(points.first().y()), m_unit, grouped(points.first().x()), m_xName,
                             significant(points.last().y()), grouped(points.last().x()));
    }
    if (all > kMostSpoken)
        words << tr("%1 more in its table").arg(all - kMostSpoken);
    return words.join(QStringLiteral(". "));
}

QString ComparisonChart::tipAt(const QPoint& point) const
{
    if (isEmpty() || m_chart->series().isEmpty() || !m_view->geometry().contains(point))
        return {};
    const QPointF inChart = m_chart->mapFromScene(m_view->mapToScene(point - m_view->pos()));
    const QRectF plot = m_chart->plotArea();
    if (inChart.x() < plot.left() || inChart.x() > plot.right() || inChart.y() < plot.top())
        return {};
    return m_curves.empty() ? tipOfBars(m_chart->mapToValue(inChart)) : tipOfCurves(inChart);
}

} // namespace fourfold::ui
