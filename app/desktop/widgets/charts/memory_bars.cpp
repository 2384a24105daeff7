// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/charts/memory_bars.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/charts/memory_kinds.h"
#include "app/desktop/widgets/text/text_line.h"
#include "app/models/shared/text.h"
#include "core/report/views/plan_tables.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
constexpr double kHeadroom = 40; // pixels
} // namespace

MemoryBars::MemoryBars(QWidget* parent)
    : Card(tr("Memory per stage"), parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setEmptyText(tr("The memory appears here as soon as the plan is valid."));
}

void MemoryBars::showMemory(const Prediction& prediction)
{
    m_stages = prediction.memory_by_stage;
    m_table = memory_table(prediction);
    const auto fullest = std::max_element(m_stages.begin(), m_stages.end(),
        [](const StageMemory& a, const StageMemory& b) { return a.total() < b.total(); });
    m_fullest = m_stages.empty() ? -1 : static_cast<int>(fullest - m_stages.begin());
    m_usable = prediction.memory_capacity_gib;
    m_device = prediction.memory_device_gib.value_or(0);
    m_gpu = fromUtf8(prediction.plan.cluster.gpu.name);
    setAccessibleDescription(m_fullest < 0 ? QString() : tr("Fullest: %1").arg(describe(m_fullest)));
    update();
}

void MemoryBars::setSelectedStage(int stage)
{
    m_selected = stage;
    update();
}

double MemoryBars::fullestTotal() const
{
    return m_fullest < 0 ? 0 : m_stages[static_cast<std::size_t>(m_fullest)].total();
}

// Small plans on large machines would be a line on the ground: then the limit is off the scale, and said so.
bool MemoryBars::limitIsOnScale() const
{
    return m_usable > 0 && fullestTotal() * 5 >= m_usable;
}

// Above the tallest shape there is room for its number and for the limit's name.
Plot MemoryBars::plotIn(const QRect& body) const
{
    const int lines = legend(body.width()).back().line;
    const QRect area = body.adjusted(0, px(34) + lines * px(kLegendLine), 0, -px(20));
    const double needed = std::max({fullestTotal(), m_device, limitIsOnScale() ? m_usable : 0, 1e-6});
    const double top = needed / (1 - std::min(0.5, px(kHeadroom) / std::max(1.0, double(area.height()))));
    // The ground is the last line of pixels, which the bars stand on.
    return {QRectF(area.adjusted(axisRoom(top), 0, 0, 0)).translated(0, -1), {0, double(stages())}, {0, top}};
}

std::vector<LegendPlace> MemoryBars::legend(int width) const
{
    return placesOfMemoryKinds(width, m_device > fullestTotal() ? tr("Context") : QString());
}

void MemoryBars::paintBody(QPainter& painter, const QRect& area, const Theme& theme)
{
    paintLegend(painter, area, theme);
    const Plot plot = plotIn(area);
    const int steps = plot.stepsUp(36);
    painter.setFont(scaledFont(-1));
    plot.paintRows(
        painter, plot.y.ticks(steps), [&](double value) { return plot.y.text(value, steps); }, theme);
    for (int stage = 0; stage < stages(); ++stage)
        paintStage(painter, plot, stage, theme);
    paintLimit(painter, plot, theme);
    for (int stage = 0; stage < stages(); ++stage)
        paintStageText(painter, plot, stage, theme);
}

void MemoryBars::paintLegend(QPainter& painter, const QRect& area, const Theme& theme) const
{
    const std::vector<LegendPlace> places = legend(area.width());
    for (std::size_t i = 0; i < places.size(); ++i) {
        const int x = area.left() + places[i].x, top = area.top() + places[i].line * px(kLegendLine);
        if (i < std::size(kMemoryKinds)) {
            const MemoryKind& kind = kMemoryKinds[i];
            drawLegend(painter, x, top + px(10), theme.*kind.color, places[i].text, kind.fill, theme);
            continue;
        }
        painter.setPen(QPen(theme.muted, 1, Qt::DashLine));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRect(x, top + px(1), px(10), px(10)));
        painter.setPen(theme.muted);
        drawLine(painter, x + px(16), top + px(10), places[i].text);
    }
}

void MemoryBars::paintStage(QPainter& painter, const Plot& plot, int stage, const Theme& theme) const
{
    const double slot = plot.area.width() / stages();
    const int left = qRound(plot.xAt(stage + 0.19));
    const int width = std::max(1, std::min(px(84), qRound(slot * 0.62)));
    const int x = left + (qRound(slot * 0.62) - width) / 2;
    const int ground = qRound(plot.yAt(0));
    double level = 0;
    int bottom = ground;
    for (const MemoryKind& kind : kMemoryKinds) {
        level += m_stages[static_cast<std::size_t>(stage)].*kind.gib;
        const int top = qRound(plot.yAt(level));
        if (top < bottom)
            fillShape(painter, QRectF(x, top, width, bottom - top), theme.*kind.color, kind.fill, theme);
        bottom = top;
    }
    int roof = bottom;
    painter.setBrush(Qt::NoBrush);
    if (stage == m_fullest && m_device > level) { // context and communicators, outside the stack's own figure
        roof = qRound(plot.yAt(m_device));
        painter.setPen(QPen(theme.muted, 1, Qt::DashLine));
        painter.drawRect(QRect(x, roof, width - 1, bottom - roof));
    }
    if (stage == m_selected) {
        painter.setPen(QPen(theme.accent, 2));
        painter.drawRect(QRect(x - 3, roof - 3, width + 6, ground - roof + 5));
    }
}

// Numbers and names only where they have room; of many stages every n-th is named.
void MemoryBars::paintStageText(QPainter& painter, const Plot& plot, int stage, const Theme& theme) const
{
    const double slot = plot.area.width() / stages(), middle = plot.xAt(stage + 0.5);
    const bool fullest = stage == m_fullest;
    const double level = m_stages[static_cast<std::size_t>(stage)].total();
    const QString number = gib(level);
    painter.setFont(scaledFont(-0.5, fullest ? QFont::Bold : QFont::Medium));
    const int numberWidth = lineWidth(painter.font(), number) + 2;
    if (numberWidth < slot || fullest) {
        const int roof = qRound(plot.yAt(fullest ? std::max(level, m_device) : level));
        const QRectF place(middle - numberWidth / 2.0, roof - px(19), numberWidth, px(16));
        painter.fillRect(place, theme.panel); // the limit's line may run here
        painter.setPen(theme.text);
        drawLine(painter, place, Qt::AlignCenter, number);
    }
    painter.setFont(scaledFont(-0.5));
    const double nameWidth = lineWidth(painter.font(), QStringLiteral("P99")) + 6;
    if (stage % std::max(1, qRound(std::ceil(nameWidth / slot))) == 0) {
        painter.setPen(theme.muted);
        drawLine(painter, QRectF(middle - slot / 2 - 20, plot.area.bottom() + px(5), slot + 40, px(16)),
            Qt::AlignCenter, QStringLiteral("P%1").arg(stage));
    }
}

void MemoryBars::paintLimit(QPainter& painter, const Plot& plot, const Theme& theme) const
{
    if (m_usable <= 0)
        return;
    const bool onScale = limitIsOnScale();
    const QString text = onScale ? tr("%1 GiB usable, %2") : tr("%1 GiB usable, %2: above this scale \u2191");
    painter.setFont(scaledFont(-1, QFont::Medium));
    painter.setPen(onScale ? theme.bad : theme.muted);
    drawLine(painter, QRectF(plot.area.left(), plot.area.top() - px(2), plot.area.width(), px(16)),
        Qt::AlignRight | Qt::AlignVCenter, text.arg(gib(m_usable), m_gpu));
    if (!onScale)
        return;
    const double y = std::round(plot.yAt(m_usable));
    painter.setPen(QPen(theme.bad, 2, Qt::DashLine));
    painter.drawLine(QPointF(plot.area.left(), y), QPointF(plot.area.right(), y));
}

int MemoryBars::stageAt(const QPoint& point) const
{
    if (isEmpty())
        return -1;
    const Plot plot = plotIn(bodyArea());
    if (!plot.area.adjusted(0, -20, 0, 20).contains(point))
        return -1;
    return std::clamp(static_cast<int>(plot.xValueAt(point.x())), 0, stages() - 1);
}

QString MemoryBars::describe(int stage) const
{
    const StageMemory& memory = m_stages[static_cast<std::size_t>(stage)];
    QStringList parts;
    for (const MemoryKind& kind : kMemoryKinds)
        parts << QStringLiteral("%1 %2").arg(kind.label(), gib(memory.*kind.gib));
    return tr("Stage %1: %2 GiB (%3)").arg(stage).arg(gib(memory.total()), parts.join(QStringLiteral(", ")));
}

void MemoryBars::mousePressEvent(QMouseEvent* event)
{
    if (const int stage = stageAt(event->position().toPoint()); stage >= 0)
        emit stageClicked(stage);
}

void MemoryBars::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (const int stage = stageAt(event->position().toPoint()); stage >= 0)
        emit stageActivated(stage);
}

void MemoryBars::keyPressEvent(QKeyEvent* event)
{
    const int step = stepAcross(*event);
    if (isEnter(*event) && m_selected >= 0)
        emit stageActivated(m_selected);
    else if (step != 0 && !isEmpty())
        emit stageClicked(std::clamp(m_selected + step, 0, stages() - 1));
    else
        Card::keyPressEvent(event);
}

QString MemoryBars::tipAt(const QPoint& point) const
{
    const int stage = stageAt(point);
    if (stage < 0)
        return {};
    return describe(stage) + explained(QString::number(stage)) + tr("\nDouble click or Enter opens the derivation");
}

} // namespace fourfold::ui
