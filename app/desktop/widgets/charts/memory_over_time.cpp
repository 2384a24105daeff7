// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/charts/memory_over_time.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/charts/memory_kinds.h"
#include "app/models/shared/text.h"
#include "core/report/views/plan_tables.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

MemoryOverTime::MemoryOverTime(QWidget* parent)
    : Card(tr("Memory over time"), parent)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setEmptyText(tr("The memory over a step appears here as soon as the plan is valid."));
}

void MemoryOverTime::showCurve(MemoryCurve curve, double usable_gib, double length_s)
{
    m_curve = std::move(curve);
    m_usable = usable_gib;
    m_length = length_s;
    m_cursor.reset();
    setSubtitle(isEmpty() ? QString()
                          : tr("stage %1, GiB allocated; peak %2 at %3")
                                .arg(m_curve.stage)
                                .arg(gib(m_curve.peak_gib), duration(m_curve.peak_s)));
    setAccessibleDescription(subtitle());
    update();
}

void MemoryOverTime::setCursor(std::optional<double> seconds)
{
    if (m_cursor == seconds)
        return;
    m_cursor = seconds;
    update();
}

Plot MemoryOverTime::plotIn(const QRect& area) const
{
    const double tallest = std::max(m_curve.peak_gib + m_curve.beyond_gib, 1e-6);
    const double top = (m_usable > 0 && tallest * 5 >= m_usable ? std::max(tallest, m_usable) : tallest) * 1.08;
    return {QRectF(area.adjusted(axisRoom(top), px(26), -px(4), -px(18))), {0, m_length}, {0, top}};
}

std::vector<std::array<double, 5>> MemoryOverTime::columns(int width) const
{
    std::vector<std::array<double, 5>> columns(static_cast<std::size_t>(std::max(1, width)));
    std::vector<double> totals(columns.size(), -1);
    const double perSecond = double(columns.size()) / m_length;
    for (const MemoryPoint& point : m_curve.points) {
        const auto first = static_cast<std::size_t>(std::max(0.0, point.start_s * perSecond));
        const auto last
            = std::min(columns.size() - 1, static_cast<std::size_t>(std::max(0.0, point.end_s * perSecond)));
        for (std::size_t x = first; x <= last; ++x) {
            if (point.total() > totals[x]) {
                totals[x] = point.total();
                columns[x] = point.gib;
            }
        }
    }
    return columns;
}

void MemoryOverTime::paintBody(QPainter& painter, const QRect& area, const Theme& theme)
{
    const Plot plot = plotIn(area);
    paintLegend(painter, area, theme);
    if (plot.isTiny())
        return;
    const int steps = plot.stepsUp(36);
    painter.setFont(scaledFont(-1));
    plot.paintRows(
        painter, plot.y.ticks(steps), [&](double value) { return plot.y.text(value, steps); }, theme);
    plot.paintColumns(painter, plot.x.ticks(plot.stepsAcross(80)), duration, theme);
    paintStack(painter, plot, theme);
    paintLines(painter, plot, theme);
    paintCursor(painter, plot, theme);
}

void MemoryOverTime::paintLegend(QPainter& painter, const QRect& area, const Theme& theme) const
{
    int x = area.left();
    for (const MemoryKind& kind : kMemoryKinds)
        x = drawLegend(painter, x, area.top() + px(10), theme.*kind.color, kind.label(), kind.fill, theme);
}

void MemoryOverTime::paintStack(QPainter& painter, const Plot& plot, const Theme& theme) const
{
    const int width = static_cast<int>(plot.area.width());
    const std::vector<std::array<double, 5>> stack = columns(width);
    std::vector<double> level(stack.size(), 0);
    painter.setPen(Qt::NoPen);
    for (std::size_t layer = 0; layer < std::size(kMemoryKinds); ++layer) {
        QPolygonF shape;
        for (std::size_t x = 0; x < stack.size(); ++x)
            shape << QPointF(plot.area.left() + double(x), plot.yAt(level[x]));
        for (std::size_t x = stack.size(); x-- > 0;) {
            level[x] += stack[x][layer];
            shape << QPointF(plot.area.left() + double(x), plot.yAt(level[x]));
        }
        const MemoryKind& kind = kMemoryKinds[layer];
        painter.setBrush(theme.*kind.color);
        painter.drawPolygon(shape);
        const QColor veil(255, 255, 255, theme.dark ? 105 : 130);
        if (kind.fill != Fill::solid) {
            painter.setBrush(QBrush(veil, kind.fill == Fill::hatched ? Qt::BDiagPattern : Qt::Dense6Pattern));
            painter.drawPolygon(shape);
        }
    }
}

void MemoryOverTime::paintLines(QPainter& painter, const Plot& plot, const Theme& theme) const
{
    painter.setFont(scaledFont(-1, QFont::Medium));
    const auto line = [&](double value, const QPen& pen, const QString& text) {
        const double y = std::round(plot.yAt(value));
        painter.setPen(pen);
        painter.drawLine(QPointF(plot.area.left(), y), QPointF(plot.area.right(), y));
        const QRectF place(plot.area.left(), y - px(17), plot.area.width(), px(16));
        painter.drawText(place, Qt::AlignRight | Qt::AlignVCenter, text);
    };
    if (m_usable > 0 && m_usable <= plot.y.high)
        line(m_usable, QPen(theme.bad, 2, Qt::DashLine), tr("%1 GiB usable").arg(gib(m_usable)));
    if (m_curve.beyond_gib > 0.005 * m_curve.peak_gib) {
        line(m_curve.peak_gib + m_curve.beyond_gib, QPen(theme.muted, 1, Qt::DashLine),
            tr("%1 GiB with fragmentation, the stack's figure").arg(gib(m_curve.peak_gib + m_curve.beyond_gib)));
    }
}

const MemoryPoint* MemoryOverTime::pointAt(double seconds) const
{
    const auto after = std::upper_bound(m_curve.points.begin(), m_curve.points.end(), seconds,
        [](double time, const MemoryPoint& point) { return time < point.start_s; });
    return after == m_curve.points.begin() ? nullptr : &*(after - 1);
}

void MemoryOverTime::paintCursor(QPainter& painter, const Plot& plot, const Theme& theme) const
{
    const MemoryPoint* point = m_cursor ? pointAt(*m_cursor) : nullptr;
    if (!point)
        return;
    const double x = plot.xAt(*m_cursor);
    painter.setPen(QPen(theme.text, 1));
    painter.drawLine(QPointF(x, plot.area.top()), QPointF(x, plot.area.bottom()));
    QStringList lines{tr("%1: %2 GiB").arg(duration(*m_cursor), gib(point->total()))};
    for (std::size_t layer = std::size(kMemoryKinds); layer-- > 0;)
        lines << QStringLiteral("%1 %2").arg(kMemoryKinds[layer].label(), gib(point->gib[layer]));
    painter.setFont(scaledFont(-0.75));
    plot.paintReading(painter, x, lines, theme.line, theme);
}

Table MemoryOverTime::table() const
{
    return curve_table(m_curve);
}

void MemoryOverTime::mouseMoveEvent(QMouseEvent* event)
{
    const Plot plot = plotIn(bodyArea());
    const bool inside = !isEmpty() && plot.area.contains(event->position());
    setCursor(inside ? std::optional(plot.xValueAt(event->position().x())) : std::nullopt);
}

void MemoryOverTime::mouseDoubleClickEvent(QMouseEvent* event)
{
    Card::mouseDoubleClickEvent(event);
    if (!isEmpty())
        emit stageActivated(m_curve.stage);
}

void MemoryOverTime::leaveEvent(QEvent* event)
{
    Card::leaveEvent(event);
    setCursor({});
}

void MemoryOverTime::keyPressEvent(QKeyEvent* event)
{
    if (isEmpty())
        Card::keyPressEvent(event);
    else if (const int step = stepAcross(*event); step != 0)
        stepCursor(step);
    else if (const int by = stepDown(*event); by != 0)
        emit stageStepped(by);
    else if (isEnter(*event))
        emit stageActivated(m_curve.stage);
    else
        Card::keyPressEvent(event);
}

// From one action to the next.
void MemoryOverTime::stepCursor(int step)
{
    const MemoryPoint* point = pointAt(m_cursor.value_or(step > 0 ? 0 : m_length));
    if (!point)
        return;
    const auto last = static_cast<std::ptrdiff_t>(m_curve.points.size()) - 1;
    const auto index = point - m_curve.points.data() + (m_cursor ? step : 0);
    setCursor(m_curve.points[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(index, 0, last))].start_s);
}

} // namespace fourfold::ui
