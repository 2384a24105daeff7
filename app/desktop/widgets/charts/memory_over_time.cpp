// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/charts/memory_over_time.h"

#include "app/desktop/look/zoom.h"
#include "app/models/shared/text.h"
#include "core/report/views/plan_tables.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
struct Area {
    const char* name;
    QColor Theme::*color;
    Card::Fill fill;
};
// In the order of MemoryPoint::gib.
constexpr Area kAreas[]{{QT_TRANSLATE_NOOP("MemoryOverTime", "Weights"), &Theme::weights, Card::Fill::solid},
    {QT_TRANSLATE_NOOP("MemoryOverTime", "Gradients"), &Theme::gradients, Card::Fill::dotted},
    {QT_TRANSLATE_NOOP("MemoryOverTime", "Optimizer"), &Theme::optimizer, Card::Fill::solid},
    {QT_TRANSLATE_NOOP("MemoryOverTime", "Activations"), &Theme::activations, Card::Fill::solid},
    {QT_TRANSLATE_NOOP("MemoryOverTime", "Buffers"), &Theme::buffers, Card::Fill::hatched}};
} // namespace

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

MemoryOverTime::Axes MemoryOverTime::axesIn(const QRect& area) const
{
    Axes axes;
    const double tallest = std::max(m_curve.peak_gib + m_curve.beyond_gib, 1e-6);
    axes.top = (m_usable > 0 && tallest * 5 >= m_usable ? std::max(tallest, m_usable) : tallest) * 1.08;
    axes.plot = QRectF(area.adjusted(axisRoom(axes.top), px(26), -px(4), -px(18)));
    return axes;
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
    const Axes axes = axesIn(area);
    paintLegend(painter, area, theme);
    if (axes.plot.width() < 20 || axes.plot.height() < 20)
        return;
    paintAxes(painter, axes, theme);
    paintStack(painter, axes, theme);
    paintLines(painter, axes, theme);
    paintCursor(painter, axes, theme);
}

void MemoryOverTime::paintLegend(QPainter& painter, const QRect& area, const Theme& theme) const
{
    int x = area.left();
    for (const Area& layer : kAreas)
        x = drawLegend(painter, x, area.top() + px(10), theme.*layer.color, tr(layer.name), layer.fill, theme);
}

void MemoryOverTime::paintAxes(QPainter& painter, const Axes& axes, const Theme& theme) const
{
    painter.setFont(scaledFont(-1));
    const double step = axisStep(axes.top, std::max(2, static_cast<int>(axes.plot.height()) / px(36)));
    const int decimals = step >= 1 ? 0 : step >= 0.1 ? 1 : step >= 0.01 ? 2 : 3;
    for (double value = 0; value <= axes.top; value += step) {
        const double y = std::round(axes.plot.bottom() - value / axes.top * axes.plot.height());
        painter.setPen(theme.grid);
        painter.drawLine(QPointF(axes.plot.left(), y), QPointF(axes.plot.right(), y));
        painter.setPen(theme.muted);
        painter.drawText(QRectF(0, y - px(8), axes.plot.left() - px(6), px(16)), Qt::AlignRight | Qt::AlignVCenter,
            grouped(value, decimals));
    }
    const double xStep = axisStep(m_length, std::max(2, static_cast<int>(axes.plot.width()) / px(80)));
    for (double time = 0; time <= m_length * (1 + 1e-9); time += xStep) {
        const double x = axes.plot.left() + time / m_length * axes.plot.width();
        painter.drawText(
            QRectF(x - px(40), axes.plot.bottom() + px(3), px(80), px(15)), Qt::AlignCenter, duration(time));
    }
}

void MemoryOverTime::paintStack(QPainter& painter, const Axes& axes, const Theme& theme) const
{
    const int width = static_cast<int>(axes.plot.width());
    const std::vector<std::array<double, 5>> stack = columns(width);
    const double scale = axes.plot.height() / axes.top;
    std::vector<double> level(stack.size(), 0);
    painter.setPen(Qt::NoPen);
    for (std::size_t layer = 0; layer < std::size(kAreas); ++layer) {
        QPolygonF shape;
        for (std::size_t x = 0; x < stack.size(); ++x)
            shape << QPointF(axes.plot.left() + double(x), axes.plot.bottom() - level[x] * scale);
        for (std::size_t x = stack.size(); x-- > 0;) {
            level[x] += stack[x][layer];
            shape << QPointF(axes.plot.left() + double(x), axes.plot.bottom() - level[x] * scale);
        }
        painter.setBrush(theme.*kAreas[layer].color);
        painter.drawPolygon(shape);
        const QColor veil(255, 255, 255, theme.dark ? 105 : 130);
        if (kAreas[layer].fill != Fill::solid) {
            painter.setBrush(QBrush(veil, kAreas[layer].fill == Fill::hatched ? Qt::BDiagPattern : Qt::Dense6Pattern));
            painter.drawPolygon(shape);
        }
    }
}

void MemoryOverTime::paintLines(QPainter& painter, const Axes& axes, const Theme& theme) const
{
    painter.setFont(scaledFont(-1, QFont::Medium));
    const auto line = [&](double value, const QPen& pen, const QString& text) {
        const double y = std::round(axes.plot.bottom() - value / axes.top * axes.plot.height());
        painter.setPen(pen);
        painter.drawLine(QPointF(axes.plot.left(), y), QPointF(axes.plot.right(), y));
        const QRectF place(axes.plot.left(), y - px(17), axes.plot.width(), px(16));
        painter.drawText(place, Qt::AlignRight | Qt::AlignVCenter, text);
    };
    if (m_usable > 0 && m_usable <= axes.top)
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

void MemoryOverTime::paintCursor(QPainter& painter, const Axes& axes, const Theme& theme) const
{
    const MemoryPoint* point = m_cursor ? pointAt(*m_cursor) : nullptr;
    if (!point)
        return;
    const double x = axes.plot.left() + *m_cursor / m_length * axes.plot.width();
    painter.setPen(QPen(theme.text, 1));
    painter.drawLine(QPointF(x, axes.plot.top()), QPointF(x, axes.plot.bottom()));
    QStringList lines{tr("%1: %2 GiB").arg(duration(*m_cursor), gib(point->total()))};
    for (std::size_t layer = std::size(kAreas); layer-- > 0;)
        lines << QStringLiteral("%1 %2").arg(tr(kAreas[layer].name), gib(point->gib[layer]));
    painter.setFont(scaledFont(-0.75));
    int widest = 0;
    for (const QString& text : lines)
        widest = std::max(widest, painter.fontMetrics().horizontalAdvance(text));
    QRectF box(x + px(8), axes.plot.top() + px(4), widest + px(14), px(15) * int(lines.size()) + px(8));
    if (box.right() > axes.plot.right())
        box.moveRight(x - px(8));
    painter.setPen(theme.line);
    painter.setBrush(theme.panel);
    painter.drawRect(box);
    painter.setPen(theme.text);
    painter.drawText(box.adjusted(px(7), px(4), 0, 0), Qt::AlignLeft | Qt::AlignTop, lines.join(QLatin1Char('\n')));
}

Table MemoryOverTime::table() const
{
    return curve_table(m_curve);
}

void MemoryOverTime::mouseMoveEvent(QMouseEvent* event)
{
    const Axes axes = axesIn(bodyArea());
    if (!isEmpty() && axes.plot.contains(event->position()))
        setCursor((event->position().x() - axes.plot.left()) / axes.plot.width() * m_length);
    else
        setCursor({});
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
    if (isEmpty()) {
        Card::keyPressEvent(event);
        return;
    }
    switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right: { // from one action to the next
        const double before = m_cursor.value_or(event->key() == Qt::Key_Right ? -1 : m_length);
        const MemoryPoint* point = pointAt(std::max(0.0, before));
        if (!point)
            return;
        const auto index = point - m_curve.points.data() + (m_cursor ? (event->key() == Qt::Key_Right ? 1 : -1) : 0);
        const auto last = static_cast<std::ptrdiff_t>(m_curve.points.size()) - 1;
        setCursor(m_curve.points[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(index, 0, last))].start_s);
        break;
    }
    case Qt::Key_Up:
        emit stageStepped(-1);
        break;
    case Qt::Key_Down:
        emit stageStepped(1);
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        emit stageActivated(m_curve.stage);
        break;
    default:
        Card::keyPressEvent(event);
    }
}

} // namespace fourfold::ui
