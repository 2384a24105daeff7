// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/charts/memory_over_time.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/charts/memory_kinds.h"
#include "app/models/shared/text.h"
#include "app/view/prediction/memory_columns.h"
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
    const double top = view::memory_top(m_curve, m_usable);
    const int legend = px(26) + placesOfMemoryKinds(area.width()).back().line * px(kLegendLine);
    return {QRectF(area.adjusted(axisRoom(top), legend, -px(4), -px(18))), {0, m_length}, {0, top}};
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
    const std::vector<LegendPlace> places = placesOfMemoryKinds(area.width());
    for (std::size_t i = 0; i < places.size(); ++i) {
        const MemoryKind& kind = kMemoryKinds[i];
        const int baseline = area.top() + places[i].line * px(kLegendLine) + px(10);
        drawLegend(painter, area.left() + places[i].x, baseline, theme.*kind.color, places[i].text, kind.fill, theme);
    }
}

void MemoryOverTime::paintStack(QPainter& painter, const Plot& plot, const Theme& theme) const
{
    const int width = static_cast<int>(plot.area.width());
    const std::vector<KindBytes> stack = view::memory_columns(m_curve, m_length, width);
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
    if (view::shows_beyond(m_curve)) {
        line(m_curve.peak_gib + m_curve.beyond_gib, QPen(theme.muted, 1, Qt::DashLine),
            tr("%1 GiB with fragmentation, the stack's figure").arg(gib(m_curve.peak_gib + m_curve.beyond_gib)));
    }
}

void MemoryOverTime::paintCursor(QPainter& painter, const Plot& plot, const Theme& theme) const
{
    const MemoryPoint* point = m_cursor ? view::memory_point_at(m_curve, *m_cursor) : nullptr;
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
    setCursor(view::next_memory_action(m_curve, m_cursor.value_or(step > 0 ? 0 : m_length), m_cursor ? step : 0));
}

} // namespace fourfold::ui
