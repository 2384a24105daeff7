// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/charts/memory_bars.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/text/text_line.h"
#include "app/models/shared/text.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

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

constexpr double kHeadroom = 40; // pixels
constexpr int kLegendLine = 17;
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
// Above the tallest shape there is room for its number and for the limit's name.
MemoryBars::Axis MemoryBars::axis(int plotHeight) const
{
    const int fullest = m_model.fullestStage();
    const double tallest = fullest < 0 ? 0 : m_model.value(fullest, StageMemoryModel::total);
    const double usable = m_model.limits().usable;
    const bool onScale = usable > 0 && tallest * 5 >= usable;
    const double needed = std::max({tallest, m_model.limits().device, onScale ? usable : 0, 1e-6});
    const double headroom = std::min(0.5, px(kHeadroom) / std::max(1.0, double(plotHeight)));
    return {needed / (1 - headroom), onScale};
}

QRect MemoryBars::plotArea(const QRect& body) const
{
    const int lines = legend(body.width()).back().line;
    const QRect plot = body.adjusted(0, px(34) + lines * px(kLegendLine), 0, -px(20));
    return plot.adjusted(axisRoom(axis(plot.height()).top), 0, 0, 0);
}

// In as many lines as the width asks for.
std::vector<MemoryBars::LegendPlace> MemoryBars::legend(int width) const
{
    std::vector<LegendPlace> places;
    const QFont font = scaledFont(-0.5); // of drawLegend()
    int x = 0, line = 0;
    const auto add = [&](const QString& text) {
        const int needed = px(16) + lineWidth(font, text);
        if (x > 0 && x + needed > width) {
            x = 0;
            ++line;
        }
        places.push_back({text, x, line});
        x += needed + px(16);
    };
    for (const Layer& layer : kLayers)
        add(m_model.headerData(layer.column, Qt::Horizontal, Qt::DisplayRole).toString());
    const int fullest = m_model.fullestStage();
    if (fullest >= 0 && m_model.limits().device > m_model.value(fullest, StageMemoryModel::total))
        add(tr("Context"));
    return places;
}

void MemoryBars::paintBody(QPainter& painter, const QRect& area, const Theme& theme)
{
    paintLegend(painter, area, theme);
    const QRect plot = plotArea(area);
    const Axis scale = axis(plot.height());
    paintAxis(painter, plot, scale, theme);
    for (int stage = 0; stage < m_model.rowCount(); ++stage)
        paintStage(painter, plot, scale, stage, theme);
    paintLimit(painter, plot, scale, theme);
    for (int stage = 0; stage < m_model.rowCount(); ++stage)
        paintStageText(painter, plot, scale, stage, theme);
}

void MemoryBars::paintLegend(QPainter& painter, const QRect& area, const Theme& theme) const
{
    const std::vector<LegendPlace> places = legend(area.width());
    for (std::size_t i = 0; i < places.size(); ++i) {
        const int x = area.left() + places[i].x, top = area.top() + places[i].line * px(kLegendLine);
        if (i < std::size(kLayers)) {
            drawLegend(painter, x, top + px(10), theme.*kLayers[i].color, places[i].text, kLayers[i].fill, theme);
            continue;
        }
        painter.setPen(QPen(theme.muted, 1, Qt::DashLine));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRect(x, top + px(1), px(10), px(10)));
        painter.setPen(theme.muted);
        drawLine(painter, x + px(16), top + px(10), places[i].text);
    }
}

void MemoryBars::paintAxis(QPainter& painter, const QRect& plot, const Axis& axis, const Theme& theme) const
{
    const double step = axisStep(axis.top, std::max(2, plot.height() / px(36)));
    const int decimals = step >= 1 ? 0 : step >= 0.1 ? 1 : step >= 0.01 ? 2 : 3;
    painter.setFont(scaledFont(-1));
    for (double value = 0; value <= axis.top * (1 + 1e-9); value += step) {
        const int y = plot.bottom() - qRound(plot.height() * value / axis.top);
        painter.setPen(theme.grid);
        painter.drawLine(plot.left(), y, plot.right(), y);
        painter.setPen(theme.muted);
        drawLine(painter, QRect(0, y - px(8), plot.left() - px(8), px(16)), Qt::AlignRight | Qt::AlignVCenter,
            grouped(value, decimals));
    }
}

void MemoryBars::paintStage(QPainter& painter, const QRect& plot, const Axis& axis, int stage, const Theme& theme) const
{
    const double slot = double(plot.width()) / m_model.rowCount();
    const int left = qRound(plot.left() + stage * slot + slot * 0.19);
    const int width = std::max(1, std::min(px(84), qRound(slot * 0.62)));
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
}

// Numbers and names only where they have room; of many stages every n-th is named.
void MemoryBars::paintStageText(
    QPainter& painter, const QRect& plot, const Axis& axis, int stage, const Theme& theme) const
{
    const double slot = double(plot.width()) / m_model.rowCount();
    const bool fullest = stage == m_model.fullestStage();
    const double level = m_model.value(stage, StageMemoryModel::total);
    const double top = fullest ? std::max(level, m_model.limits().device) : level;
    const QString number = gib(level);
    painter.setFont(scaledFont(-0.5, fullest ? QFont::Bold : QFont::Medium));
    const int numberWidth = lineWidth(painter.font(), number) + 2;
    if (numberWidth < slot || fullest) {
        const double middle = plot.left() + (stage + 0.5) * slot;
        const int bottom = plot.bottom() - qRound(plot.height() * top / axis.top);
        const QRectF place(middle - numberWidth / 2.0, bottom - px(19), numberWidth, px(16));
        painter.fillRect(place, theme.panel); // the limit's line may run here
        painter.setPen(theme.text);
        drawLine(painter, place, Qt::AlignCenter, number);
    }
    painter.setFont(scaledFont(-0.5));
    const double nameWidth = lineWidth(painter.font(), QStringLiteral("P99")) + 6;
    if (stage % std::max(1, qRound(std::ceil(nameWidth / slot))) == 0) {
        painter.setPen(theme.muted);
        drawLine(painter, QRectF(plot.left() + stage * slot - 20, plot.bottom() + px(5), slot + 40, px(16)),
            Qt::AlignCenter, QStringLiteral("P%1").arg(stage));
    }
}

void MemoryBars::paintLimit(QPainter& painter, const QRect& plot, const Axis& axis, const Theme& theme) const
{
    const double usable = m_model.limits().usable;
    if (usable <= 0)
        return;
    const QString text = axis.limitOnScale ? tr("%1 GiB usable, %2") : tr("%1 GiB usable, %2: above this scale \u2191");
    painter.setFont(scaledFont(-1, QFont::Medium));
    painter.setPen(axis.limitOnScale ? theme.bad : theme.muted);
    drawLine(painter, QRect(plot.left(), plot.top() - px(2), plot.width(), px(16)), Qt::AlignRight | Qt::AlignVCenter,
        text.arg(gib(usable), m_model.limits().gpu));
    if (!axis.limitOnScale)
        return;
    const int y = plot.bottom() - qRound(plot.height() * usable / axis.top);
    painter.setPen(QPen(theme.bad, 2, Qt::DashLine));
    painter.drawLine(plot.left(), y, plot.right(), y);
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

Table MemoryBars::table() const
{
    Table table;
    table.columns = {{"stage", "Stage"}};
    for (int column = StageMemoryModel::weights; column < StageMemoryModel::columns; ++column) {
        const QString name = m_model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
        table.columns.push_back({name.toLower().replace(QLatin1Char(' '), QLatin1Char('_')).toStdString() + "_gib",
            tr("%1 GiB").arg(name).toStdString(), 3});
    }
    for (int stage = 0; stage < m_model.rowCount(); ++stage) {
        std::vector<Cell> row{std::int64_t(stage)};
        for (int column = StageMemoryModel::weights; column < StageMemoryModel::columns; ++column)
            row.emplace_back(m_model.value(stage, static_cast<StageMemoryModel::Column>(column)));
        table.rows.push_back(std::move(row));
    }
    return table;
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
    if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && m_selected >= 0) {
        emit stageActivated(m_selected);
        return;
    }
    const int step = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
    if (step == 0 || m_model.rowCount() == 0) {
        Card::keyPressEvent(event);
        return;
    }
    emit stageClicked(std::clamp(m_selected + step, 0, m_model.rowCount() - 1));
}

QString MemoryBars::tipAt(const QPoint& point) const
{
    const int stage = stageAt(point);
    if (stage < 0)
        return {};
    return describe(stage) + explained(QStringLiteral("stage %1").arg(stage))
        + tr("\nDouble click or Enter opens the derivation");
}

} // namespace fourfold::ui
