// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/memory_bars.h"

#include "app/models/text.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
struct Layer {
    StageMemoryModel::Column column;
    QColor Theme::*color;
    Card::Fill fill;
};
constexpr Layer kLayers[]{{StageMemoryModel::weights, &Theme::weights, Card::Fill::solid},
    {StageMemoryModel::gradients, &Theme::gradients, Card::Fill::dotted},
    {StageMemoryModel::optimizer, &Theme::optimizer, Card::Fill::solid},
    {StageMemoryModel::activations, &Theme::activations, Card::Fill::solid},
    {StageMemoryModel::other, &Theme::buffers, Card::Fill::hatched}};

constexpr int kAxisWidth = 34;
} // namespace

MemoryBars::MemoryBars(const StageMemoryModel& model, QWidget* parent)
    : Card(tr("Memory per stage"), parent)
    , m_model(model)
{
    setFocusPolicy(Qt::StrongFocus);
    setEmptyText(tr("The memory appears here as soon as the plan is valid."));
    connect(&model, &QAbstractItemModel::modelReset, this, [this] {
        const int stage = m_model.fullestStage();
        setAccessibleDescription(stage < 0 ? QString() : tr("Fullest: %1").arg(describe(stage)));
        update();
    });
}

void MemoryBars::setSelectedStage(int stage)
{
    m_selected = stage;
    update();
}

// Small plans on large machines would be a line on the ground: then the limit is off the scale, and said so.
MemoryBars::Axis MemoryBars::axis() const
{
    const int fullest = m_model.fullestStage();
    const double tallest = fullest < 0 ? 0 : m_model.value(fullest, StageMemoryModel::total);
    const double needed = std::max(tallest, m_model.limits().device);
    const double usable = m_model.limits().usable;
    if (usable > 0 && tallest * 5 >= usable)
        return {std::max(needed, usable) * 1.12, true};
    return {std::max(needed, 1e-6) * 1.3, false};
}

QRect MemoryBars::plotArea(const QRect& body) const
{
    return body.adjusted(kAxisWidth, 34, 0, -20);
}

void MemoryBars::paintBody(QPainter& painter, const QRect& area, const Theme& theme)
{
    paintLegend(painter, area, theme);
    const QRect plot = plotArea(area);
    const Axis scale = axis();
    paintAxis(painter, plot, scale, theme);
    for (int stage = 0; stage < m_model.rowCount(); ++stage)
        paintStage(painter, plot, scale, stage, theme);
    paintLimit(painter, plot, scale, theme);
}

void MemoryBars::paintLegend(QPainter& painter, const QRect& area, const Theme& theme) const
{
    int x = area.left();
    for (const Layer& layer : kLayers) {
        const QString name = m_model.headerData(layer.column, Qt::Horizontal, Qt::DisplayRole).toString();
        x = drawLegend(painter, x, area.top() + 10, theme.*layer.color, name, layer.fill, theme);
    }
    const int fullest = m_model.fullestStage();
    if (m_model.limits().device <= m_model.value(fullest, StageMemoryModel::total))
        return;
    const QString text = tr("Context");
    if (x + 16 + painter.fontMetrics().horizontalAdvance(text) > area.right())
        return;
    painter.setPen(QPen(theme.muted, 1, Qt::DashLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRect(x, area.top() + 1, 10, 10));
    painter.setPen(theme.muted);
    painter.drawText(x + 16, area.top() + 10, text);
}

void MemoryBars::paintAxis(QPainter& painter, const QRect& plot, const Axis& axis, const Theme& theme) const
{
    const double step = axisStep(axis.top, std::max(2, plot.height() / 36));
    const int decimals = step >= 1 ? 0 : step >= 0.1 ? 1 : step >= 0.01 ? 2 : 3;
    painter.setFont(scaledFont(-1));
    for (double value = 0; value <= axis.top * (1 + 1e-9); value += step) {
        const int y = plot.bottom() - qRound(plot.height() * value / axis.top);
        painter.setPen(theme.grid);
        painter.drawLine(plot.left(), y, plot.right(), y);
        painter.setPen(theme.muted);
        painter.drawText(QRect(plot.left() - kAxisWidth, y - 8, kAxisWidth - 8, 16), Qt::AlignRight | Qt::AlignVCenter,
            grouped(value, decimals));
    }
}

void MemoryBars::paintStage(QPainter& painter, const QRect& plot, const Axis& axis, int stage, const Theme& theme) const
{
    const double slot = double(plot.width()) / m_model.rowCount();
    const int left = qRound(plot.left() + stage * slot + slot * 0.19);
    const int width = std::max(1, std::min(84, qRound(slot * 0.62)));
    const int x = left + (qRound(slot * 0.62) - width) / 2;
    double level = 0;
    int bottom = plot.bottom();
    for (const Layer& layer : kLayers) {
        level += m_model.value(stage, layer.column);
        const int top = plot.bottom() - qRound(plot.height() * level / axis.top);
        if (top < bottom)
            fillShape(painter, QRectF(x, top, width, bottom - top), theme.*layer.color, layer.fill, theme);
        bottom = top;
    }
    const bool fullest = stage == m_model.fullestStage();
    const double device = m_model.limits().device;
    int roof = bottom;
    if (fullest && device > level) { // context and communicators, outside the stack's own figure
        roof = plot.bottom() - qRound(plot.height() * device / axis.top);
        painter.setPen(QPen(theme.muted, 1, Qt::DashLine));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRect(x, roof, width - 1, bottom - roof));
    }
    if (stage == m_selected) {
        painter.setPen(QPen(theme.accent, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRect(x - 3, roof - 3, width + 6, plot.bottom() - roof + 5));
    }
    // Numbers and names only where they have room; of many stages every n-th is named.
    const QString number = gib(level);
    painter.setFont(scaledFont(-0.5, fullest ? QFont::Bold : QFont::Medium));
    if (painter.fontMetrics().horizontalAdvance(number) < slot - 2 || fullest) {
        painter.setPen(theme.text);
        const QRectF place(plot.left() + stage * slot - 40, roof - 19, slot + 80, 16);
        painter.drawText(place, Qt::AlignCenter, number);
    }
    painter.setFont(scaledFont(-0.5));
    const QString name = QStringLiteral("P%1").arg(stage);
    const int every
        = std::max(1, qRound(std::ceil((painter.fontMetrics().horizontalAdvance(QStringLiteral("P99")) + 6) / slot)));
    if (stage % every == 0) {
        painter.setPen(theme.muted);
        painter.drawText(
            QRectF(plot.left() + stage * slot - 20, plot.bottom() + 5, slot + 40, 16), Qt::AlignCenter, name);
    }
}

void MemoryBars::paintLimit(QPainter& painter, const QRect& plot, const Axis& axis, const Theme& theme) const
{
    const double usable = m_model.limits().usable;
    if (usable <= 0)
        return;
    const QString gpu = m_model.limits().gpu;
    painter.setFont(scaledFont(-1, QFont::Medium));
    if (!axis.limitOnScale) {
        painter.setPen(theme.muted);
        painter.drawText(QRect(plot.left(), plot.top() - 4, plot.width(), 16), Qt::AlignRight | Qt::AlignVCenter,
            tr("%1 GiB usable, %2: above this scale \u2191").arg(gib(usable), gpu));
        return;
    }
    const int y = plot.bottom() - qRound(plot.height() * usable / axis.top);
    painter.setPen(QPen(theme.bad, 2, Qt::DashLine));
    painter.drawLine(plot.left(), y, plot.right(), y);
    const QString text = tr("%1 GiB usable, %2").arg(gib(usable), gpu);
    const int textWidth = painter.fontMetrics().horizontalAdvance(text) + 8;
    const QRect place(plot.right() - textWidth, y - 18, textWidth, 16);
    painter.fillRect(place.adjusted(0, 1, 0, 0), theme.panel);
    painter.setPen(theme.bad);
    painter.drawText(place, Qt::AlignCenter, text);
}

int MemoryBars::stageAt(const QPoint& point) const
{
    const QRect plot = plotArea(bodyArea());
    const int stages = m_model.rowCount();
    if (stages == 0 || !plot.adjusted(0, -20, 0, 20).contains(point))
        return -1;
    return std::clamp((point.x() - plot.left()) * stages / std::max(1, plot.width()), 0, stages - 1);
}

QString MemoryBars::describe(int stage) const
{
    QStringList parts;
    for (const Layer& layer : kLayers) {
        const QString name = m_model.headerData(layer.column, Qt::Horizontal, Qt::DisplayRole).toString();
        parts << QStringLiteral("%1 %2").arg(name, gib(m_model.value(stage, layer.column)));
    }
    return tr("Stage %1: %2 GiB (%3)")
        .arg(stage)
        .arg(gib(m_model.value(stage, StageMemoryModel::total)), parts.join(QStringLiteral(", ")));
}

void MemoryBars::mousePressEvent(QMouseEvent* event)
{
    if (const int stage = stageAt(event->position().toPoint()); stage >= 0)
        emit stageClicked(stage);
}

void MemoryBars::keyPressEvent(QKeyEvent* event)
{
    const int step = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
    if (step == 0 || m_model.rowCount() == 0) {
        Card::keyPressEvent(event);
        return;
    }
    emit stageClicked(std::clamp(m_selected + step, 0, m_model.rowCount() - 1));
}

bool MemoryBars::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int stage = stageAt(help->pos());
        if (stage >= 0)
            QToolTip::showText(help->globalPos(), describe(stage), this);
        else
            QToolTip::hideText();
        return true;
    }
    return Card::event(event);
}

} // namespace fourfold::ui
