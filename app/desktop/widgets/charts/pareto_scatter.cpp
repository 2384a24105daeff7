// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/charts/pareto_scatter.h"

#include "app/desktop/look/zoom.h"
#include "app/models/shared/text.h"

#include <algorithm>

namespace fourfold::ui {

ParetoScatter::ParetoScatter(const ResultsModel& model, QWidget* parent)
    : ScatterCard(tr("Memory and throughput"), tr("Found layouts appear here as points."), &Theme::accent,
        tr("Memory, GiB per GPU (up: tokens/s per GPU)"), parent)
    , m_model(model)
{
    connect(&model, &QAbstractItemModel::modelReset, this, &ParetoScatter::modelChanged);
    modelChanged(); // what it holds already
}

void ParetoScatter::modelChanged()
{
    std::vector<Point> points;
    double memory = 0, throughput = 0;
    for (int row = 0; row < m_model.rowCount(); ++row) {
        const PlanValues& values = m_model.row(row).values;
        points.push_back({row, values[slot(PlanField::memory_gib)], values[slot(PlanField::tps_per_gpu)]});
        memory = std::max(memory, points.back().x);
        throughput = std::max(throughput, points.back().y);
    }
    const auto front = std::count_if(points.begin(), points.end(), [this](const Point& at) { return isFront(at); });
    m_layouts = counted(double(points.size()), tr("layout"));
    m_front = tr("%1 on the Pareto front").arg(grouped(double(front)));
    const QString summary = points.empty() ? QString() : tr("%1, %2").arg(m_layouts, m_front);
    showPoints(std::move(points), {0, std::max(1e-9, memory * 1.04)}, {0, std::max(1e-9, throughput * 1.06)}, summary);
}

void ParetoScatter::paintLegend(QPainter& painter, const QRect& area, const Theme& theme)
{
    const int baseline = area.top() + px(10);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.muted);
    painter.drawEllipse(QPointF(area.left() + px(5), baseline - px(4)), px(2.5), px(2.5));
    painter.setFont(scaledFont(-0.5));
    const int next = area.left() + px(34) + painter.fontMetrics().horizontalAdvance(m_layouts);
    painter.setPen(QPen(theme.bad, 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawEllipse(QPointF(next + px(5), baseline - px(4)), px(4), px(4));
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(theme.muted);
    painter.drawText(area.left() + px(16), baseline, m_layouts);
    cut().draw(painter, next + px(16), baseline, area.right() - next - px(16), m_front);
}

void ParetoScatter::paintAxes(QPainter& painter, const Plot& plot, const Theme& theme) const
{
    const int up = plot.stepsUp(40), across = plot.stepsAcross(44);
    plot.paintRows(
        painter, plot.y.ticks(up), [&](double value) { return plot.y.text(value, up); }, theme);
    plot.paintColumns(
        painter, plot.x.ticks(across), [&](double value) { return plot.x.text(value, across); }, theme);
}

void ParetoScatter::drawPoints(QPainter& painter, const Plot& plot, const Theme& theme) const
{
    QColor color = theme.muted;
    color.setAlpha(points().size() > 2000 ? 90 : 200);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    for (const Point& point : points()) {
        const QPointF place = plot.at(point.x, point.y);
        if (points().size() > 5000)
            painter.fillRect(QRectF(place.x() - 1, place.y() - 1, 2, 2), color);
        else
            painter.drawEllipse(place, px(2.5), px(2.5));
    }
    painter.setPen(QPen(theme.bad, 2));
    painter.setBrush(Qt::NoBrush);
    for (const Point& point : points()) {
        if (isFront(point))
            painter.drawEllipse(plot.at(point.x, point.y), px(4), px(4));
    }
}

QString ParetoScatter::tipOf(int row) const
{
    QStringList lines;
    for (int column = ResultsModel::place; column < ResultsModel::columns; ++column)
        lines << QStringLiteral("%1 %2").arg(
            m_model.headerData(column, Qt::Horizontal).toString().replace(QLatin1Char('\n'), QLatin1Char(' ')),
            m_model.index(row, column).data().toString());
    return lines.join(QLatin1Char('\n'));
}

} // namespace fourfold::ui
