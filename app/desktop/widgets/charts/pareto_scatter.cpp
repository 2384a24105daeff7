// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/charts/pareto_scatter.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/text/text_line.h"
#include "app/models/shared/text.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
double memoryOf(const ResultRow& row)
{
    return row.values[slot(PlanField::memory_gib)];
}

double throughputOf(const ResultRow& row)
{
    return row.values[slot(PlanField::tps_per_gpu)];
}
} // namespace

ParetoScatter::ParetoScatter(const ResultsModel& model, QWidget* parent)
    : ScatterCard(tr("Memory and throughput"), tr("Found layouts appear here as points."), parent)
    , m_model(model)
{
    connect(&model, &QAbstractItemModel::modelReset, this, &ParetoScatter::modelChanged);
    modelChanged(); // what it holds already
}

void ParetoScatter::modelChanged()
{
    m_mostMemory = m_mostThroughput = 0;
    m_front = 0;
    for (int row = 0; row < m_model.rowCount(); ++row) {
        m_mostMemory = std::max(m_mostMemory, memoryOf(m_model.row(row)));
        m_mostThroughput = std::max(m_mostThroughput, throughputOf(m_model.row(row)));
        m_front += m_model.isPareto(m_model.idOf(row)) ? 1 : 0;
    }
    showSummary({});
    setAccessibleDescription(isEmpty() ? QString() : tr("%1, %2").arg(layoutsText(), frontText()));
}

QString ParetoScatter::layoutsText() const
{
    return counted(m_model.rowCount(), tr("layout"));
}

QString ParetoScatter::frontText() const
{
    return tr("%1 on the Pareto front").arg(grouped(m_front));
}

ParetoScatter::Axes ParetoScatter::axesIn(const QRect& area) const
{
    Axes axes;
    axes.plot = QRectF(area.adjusted(px(52), px(24), -px(8), -px(36)));
    axes.right = std::max(1e-9, m_mostMemory * 1.04);
    axes.top = std::max(1e-9, m_mostThroughput * 1.06);
    return axes;
}

QPointF ParetoScatter::at(const Axes& axes, int row) const
{
    const ResultRow& found = m_model.row(row);
    return {axes.plot.left() + memoryOf(found) / axes.right * axes.plot.width(),
        axes.plot.bottom() - throughputOf(found) / axes.top * axes.plot.height()};
}

QPointF ParetoScatter::placeOf(int row) const
{
    return at(axesIn(bodyArea()), row);
}

void ParetoScatter::forEachPoint(const std::function<void(int row, const QPointF& place)>& visit) const
{
    const Axes axes = axesIn(bodyArea());
    for (int row = 0; row < m_model.rowCount(); ++row)
        visit(row, at(axes, row));
}

void ParetoScatter::paintBody(QPainter& painter, const QRect& area, const Theme& theme)
{
    const Axes axes = axesIn(area);
    if (axes.plot.width() < 20 || axes.plot.height() < 20)
        return;
    painter.setRenderHint(QPainter::Antialiasing);
    const int baseline = area.top() + px(10);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.muted);
    painter.drawEllipse(QPointF(area.left() + px(5), baseline - px(4)), px(2.5), px(2.5));
    painter.setFont(scaledFont(-0.5));
    painter.setPen(theme.muted);
    const QString one = layoutsText(), two = frontText();
    painter.drawText(area.left() + px(16), baseline, one);
    const int next = area.left() + px(34) + painter.fontMetrics().horizontalAdvance(one);
    painter.setPen(QPen(theme.bad, 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawEllipse(QPointF(next + px(5), baseline - px(4)), px(4), px(4));
    painter.setPen(theme.muted);
    cut().draw(painter, next + px(16), baseline, area.right() - next - px(16), two);
    painter.setRenderHint(QPainter::Antialiasing, false);
    paintAxes(painter, area, axes, theme);
    painter.setRenderHint(QPainter::Antialiasing);
    paintPoints(painter, theme, [&](QPainter& on) { drawPoints(on, axes, theme); });
    if (selected() >= 0 && selected() < m_model.rowCount()) {
        painter.setPen(QPen(theme.text, 2));
        painter.setBrush(theme.accent);
        painter.drawEllipse(at(axes, selected()), px(5.5), px(5.5));
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void ParetoScatter::paintAxes(QPainter& painter, const QRect& area, const Axes& axes, const Theme& theme) const
{
    painter.setFont(scaledFont(-1));
    const double yStep = axisStep(axes.top, std::max(2, static_cast<int>(axes.plot.height()) / px(40)));
    for (double value = 0; value <= axes.top; value += yStep) {
        const double y = std::round(axes.plot.bottom() - value / axes.top * axes.plot.height());
        painter.setPen(theme.grid);
        painter.drawLine(QPointF(axes.plot.left(), y), QPointF(axes.plot.right(), y));
        painter.setPen(theme.muted);
        painter.drawText(QRectF(axes.plot.left() - px(60), y - px(8), px(54), px(16)),
            Qt::AlignRight | Qt::AlignVCenter, grouped(value, yStep < 1 ? 2 : 0));
    }
    const double xStep = axisStep(axes.right, std::max(2, static_cast<int>(axes.plot.width()) / px(44)));
    for (double value = 0; value <= axes.right; value += xStep) {
        const double x = axes.plot.left() + value / axes.right * axes.plot.width();
        painter.drawText(QRectF(x - px(40), axes.plot.bottom() + px(2), px(80), px(15)), Qt::AlignCenter,
            grouped(value, xStep < 1 ? 2 : 0));
    }
    const QRectF title(area.left(), axes.plot.bottom() + px(17), area.width(), px(16));
    cut().draw(painter, title, Qt::AlignCenter, tr("Memory, GiB per GPU (up: tokens/s per GPU)"));
}

void ParetoScatter::drawPoints(QPainter& painter, const Axes& axes, const Theme& theme) const
{
    QColor color = theme.muted;
    color.setAlpha(m_model.rowCount() > 2000 ? 90 : 200);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    for (int row = 0; row < m_model.rowCount(); ++row) {
        const QPointF place = at(axes, row);
        if (m_model.rowCount() > 5000)
            painter.fillRect(QRectF(place.x() - 1, place.y() - 1, 2, 2), color);
        else
            painter.drawEllipse(place, px(2.5), px(2.5));
    }
    painter.setPen(QPen(theme.bad, 2));
    painter.setBrush(Qt::NoBrush);
    for (int row = 0; row < m_model.rowCount(); ++row) {
        if (m_model.isPareto(m_model.idOf(row)))
            painter.drawEllipse(at(axes, row), px(4), px(4));
    }
}

// The nearest in memory.
int ParetoScatter::neighbour(int step) const
{
    const double from = selected() >= 0 ? memoryOf(m_model.row(selected())) : (step > 0 ? -1 : INFINITY);
    int best = -1;
    for (int row = 0; row < m_model.rowCount(); ++row) {
        const double away = (memoryOf(m_model.row(row)) - from) * step;
        if (away > 0 && (best < 0 || away < (memoryOf(m_model.row(best)) - from) * step))
            best = row;
    }
    return best;
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
