// SPDX-License-Identifier: GPL-3.0-or-later
// Reading a line chart off: the place that the pointer or the arrow keys choose, shared by the charts of a page and
// held by a click.
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/charts/line_chart.h"
#include "app/models/shared/text.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
// The point at or before `x`; null when there is none.
const QPointF* pointAt(const QList<QPointF>& points, double x)
{
    const auto after = std::upper_bound(
        points.begin(), points.end(), x, [](double value, const QPointF& point) { return value < point.x(); });
    return after == points.begin() ? nullptr : &*(after - 1);
}
} // namespace

void LineChart::share(const QList<LineChart*>& charts)
{
    for (LineChart* chart : charts) {
        for (LineChart* other : charts) {
            if (other == chart)
                continue;
            connect(chart, &LineChart::cursorMoved, other, &LineChart::setCursor);
            connect(chart, &LineChart::cursorHeld, other, &LineChart::hold);
        }
    }
}

void LineChart::setCursor(std::optional<double> x)
{
    if (m_cursor == x)
        return;
    m_cursor = x;
    describe();
    update();
}

void LineChart::hold(bool held)
{
    if (m_held == held)
        return;
    m_held = held;
    update();
}

void LineChart::moveCursor(std::optional<double> x)
{
    setCursor(x);
    emit cursorMoved(x);
}

void LineChart::changeHold(bool held)
{
    hold(held);
    emit cursorHeld(held);
}

QStringList LineChart::readingAt(const std::optional<double>& x) const
{
    const QPointF* point = x ? pointAt(m_points, *x) : nullptr;
    if (!point)
        return {};
    QStringList lines{tr("%1 %2").arg(m_xTitle, grouped(point->x()))};
    const auto add = [&](const QString& name, const QString& value) {
        lines << (name.isEmpty() ? value : QStringLiteral("%1 %2").arg(name, value));
    };
    add(m_lineName, significant(point->y()));
    const QPointF *low = pointAt(m_low, *x), *high = pointAt(m_high, *x), *middle = pointAt(m_median, *x);
    if (low && high)
        add(tr("Ranks"), tr("%1 to %2").arg(significant(low->y()), significant(high->y())));
    if (middle)
        add(m_medianName, significant(middle->y()));
    if (const QPointF* dot = pointAt(m_dots, *x))
        add(m_dotsName, significant(dot->y()));
    if (m_level && !m_levelName.isEmpty() && point->y() > 0)
        add(m_levelName, QStringLiteral("(%1)").arg(signedPercent(*m_level / point->y() - 1)));
    return lines;
}

// Values at the cursor, in a small box beside the line that marks the place.
void LineChart::paintCursor(QPainter& painter, const Plot& plot, const Theme& theme) const
{
    if (!m_cursor || *m_cursor < 0 || *m_cursor > plot.x.high)
        return;
    QStringList lines = readingAt(m_cursor);
    if (lines.isEmpty())
        return;
    const QPointF place = plot.at(*pointAt(m_points, *m_cursor));
    painter.setPen(QPen(m_held ? theme.text : theme.muted, m_held ? 2 : 1));
    painter.drawLine(QPointF(place.x(), plot.area.top()), QPointF(place.x(), plot.area.bottom()));
    painter.setPen(QPen(theme.muted, 1));
    painter.setBrush(theme.*m_color);
    painter.drawEllipse(place, px(3), px(3));
    painter.setFont(scaledFont(-1));
    if (m_held)
        lines.front() += tr(", held");
    plot.paintReading(painter, place.x(), lines, m_held ? theme.text : theme.line, theme);
}

std::optional<double> LineChart::placeAt(const QPointF& position) const
{
    return m_plot.area.contains(position) ? std::optional(m_plot.xValueAt(position.x())) : std::nullopt;
}

void LineChart::mouseMoveEvent(QMouseEvent* event)
{
    if (!m_held)
        moveCursor(placeAt(event->position()));
}

// A held place stays while the pointer goes elsewhere; the next click lets go of it.
void LineChart::mousePressEvent(QMouseEvent* event)
{
    Card::mousePressEvent(event);
    const std::optional<double> x = placeAt(event->position());
    if (event->button() != Qt::LeftButton || !x || m_points.isEmpty())
        return;
    changeHold(!m_held);
    const QPointF* point = pointAt(m_points, *x);
    moveCursor(m_held && point ? point->x() : x); // what is held is a step, not the place behind the newest one
}

void LineChart::leaveEvent(QEvent* event)
{
    Card::leaveEvent(event);
    if (!m_held)
        moveCursor({});
}

void LineChart::keyPressEvent(QKeyEvent* event)
{
    const int step = stepAcross(*event);
    const bool holds = event->key() == Qt::Key_Space || isEnter(*event);
    if (m_points.isEmpty()) {
        Card::keyPressEvent(event);
    } else if (step != 0) {
        const QPointF* at = m_cursor ? pointAt(m_points, *m_cursor) : nullptr;
        const qsizetype index = at ? at - m_points.constData() : (step > 0 ? -1 : m_points.size());
        moveCursor(m_points[std::clamp<qsizetype>(index + step, 0, m_points.size() - 1)].x());
    } else if (holds && m_cursor) {
        changeHold(!m_held);
    } else if (event->key() == Qt::Key_Escape && m_cursor) {
        changeHold(false);
        moveCursor({});
    } else {
        Card::keyPressEvent(event);
    }
}

} // namespace fourfold::ui
