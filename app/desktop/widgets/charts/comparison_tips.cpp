// SPDX-License-Identifier: GPL-3.0-or-later
// What the bars and points of a comparison's chart say under the pointer.
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/charts/comparison_chart.h"
#include "app/models/shared/text.h"

#include <QChart>
#include <QChartView>
#include <QLineF>
#include <QXYSeries>

#include <cmath>

namespace fourfold::ui {

namespace {
constexpr int kPointReach = 12; // pixels at 100 % zoom
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
