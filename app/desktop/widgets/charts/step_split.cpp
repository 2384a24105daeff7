// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/charts/step_split.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/text/text_line.h"
#include "app/models/shared/text.h"
#include "app/view/answer.h"
#include "app/view/prediction/plan_charts.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
constexpr int kNameWidth = 116;
constexpr int kShareWidth = 52;
constexpr int kTimeWidth = 62; // room for the number behind the longest bar
constexpr int kSplitLegendHeight = 26;
constexpr int kLeastLine = 15;
constexpr int kHiddenAlpha = 75;
} // namespace

PartLook lookOf(Part part)
{
    switch (part) {
    case Part::compute:
        return {&Theme::forward, Card::Fill::solid};
    case Part::recompute:
        return {&Theme::gradients, Card::Fill::dotted};
    case Part::bubble:
        return {&Theme::muted, Card::Fill::outlined};
    case Part::optimizer:
        return {&Theme::optimizer, Card::Fill::solid};
    case Part::other:
        return {&Theme::rest, Card::Fill::solid};
    default:
        return {&Theme::communication, Card::Fill::solid};
    }
}

PartLook stackedLookOf(Part part)
{
    switch (part) {
    case Part::cp:
        return {lookOf(part).color, Card::Fill::hatched};
    case Part::dp:
        return {lookOf(part).color, Card::Fill::dotted};
    case Part::pp:
        return {&Theme::activations, Card::Fill::solid};
    case Part::ep:
        return {&Theme::activations, Card::Fill::hatched};
    default:
        return lookOf(part);
    }
}

StepSplit::StepSplit(QWidget* parent)
    : Card(tr("Step time"), parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setEmptyText(tr("The parts of the step appear here as soon as the plan is valid."));
}

void StepSplit::showParts(const Prediction& prediction)
{
    m_rows.clear();
    m_total = prediction.time_by_part.total();
    QStringList words;
    for (const view::PartTime& at : view::part_times(prediction)) {
        m_rows.push_back({at.part, at.exposed_s, at.hidden_s, m_total > 0 ? at.exposed_s / m_total : 0});
        words << QStringLiteral("%1 %2").arg(fromUtf8(at.label), duration(at.exposed_s));
    }
    setAccessibleDescription(words.join(QStringLiteral(", ")));
    setSubtitle(isEmpty() ? QString() : tr("where %1 goes; exposed parts add up to the step").arg(duration(m_total)));
    updateGeometry();
    update();
}

// As high as its lines need.
QSize StepSplit::minimumSizeHint() const
{
    const int lines = std::max(7, static_cast<int>(m_rows.size()) + 1);
    return least(280, 190).expandedTo({0, height() - rowsArea(bodyArea()).height() + lines * px(kLeastLine)});
}

double StepSplit::lineHeight(const QRect& rows) const
{
    return std::max(1.0, std::min(double(px(30)), double(rows.height()) / double(m_rows.size() + 1)));
}

QRect StepSplit::rowsArea(const QRect& area) const
{
    return area.adjusted(0, px(kSplitLegendHeight), 0, 0);
}

void StepSplit::paintBody(QPainter& painter, const QRect& area, const Theme& theme)
{
    const int baseline = area.top() + px(10);
    const int next = drawLegend(painter, area.left(), baseline, theme.communication, tr("Exposed"), Fill::solid, theme);
    QColor pale = theme.communication;
    pale.setAlpha(kHiddenAlpha);
    painter.fillRect(QRectF(next, baseline - px(9), px(11), px(11)), pale);
    drawLegendText(painter, next + px(16), baseline, tr("Hidden behind compute"), theme);

    double longest = 0;
    for (const Row& row : m_rows)
        longest = std::max(longest, row.exposed_s + row.hidden_s);
    const QRect rows = rowsArea(area);
    const double height = lineHeight(rows);
    const double scale
        = std::max(10, rows.width() - px(kNameWidth + kShareWidth + kTimeWidth)) / std::max(longest, 1e-12);
    double y = rows.top();
    for (const Row& row : m_rows) {
        const QRectF line(rows.left(), y, rows.width(), height);
        if (&row - m_rows.data() == m_selected)
            painter.fillRect(line.adjusted(-px(4), 1, px(4), -1), theme.grid);
        paintRow(painter, line, row, scale, theme);
        y += height;
    }
    painter.setPen(theme.grid);
    painter.drawLine(rows.left(), qRound(y), rows.right(), qRound(y));
    painter.setPen(theme.text);
    painter.setFont(scaledFont(-0.25, QFont::DemiBold));
    const QRectF total(rows.left(), y, rows.width(), height);
    drawLine(painter, total, Qt::AlignLeft | Qt::AlignVCenter, tr("Step"));
    drawLine(painter, total.adjusted(px(kNameWidth), 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, duration(m_total));
    drawLine(painter, total, Qt::AlignRight | Qt::AlignVCenter, tr("100.0 %"));
}

void StepSplit::paintRow(QPainter& painter, const QRectF& line, const Row& row, double scale, const Theme& theme) const
{
    painter.setPen(theme.text);
    painter.setFont(scaledFont(-0.25));
    drawLine(painter, line, Qt::AlignLeft | Qt::AlignVCenter, fromUtf8(view::part_label(row.part)));
    const PartLook look = lookOf(row.part);
    const double barHeight = std::max(4.0, std::min(double(px(16)), line.height() - px(7)));
    const QRectF bar(line.left() + px(kNameWidth), std::round(line.center().y() - barHeight / 2),
        std::max(row.exposed_s > 0 ? 1.0 : 0.0, std::round(row.exposed_s * scale)), std::round(barHeight));
    fillShape(painter, bar, theme.*look.color, look.fill, theme);
    double right = bar.right();
    if (row.hidden_s > 0) {
        const QRectF hidden(bar.right() + (bar.width() > 0 ? 1 : 0), bar.top(),
            std::max(1.0, std::round(row.hidden_s * scale)), bar.height());
        QColor pale = theme.*look.color;
        pale.setAlpha(kHiddenAlpha);
        painter.fillRect(hidden, pale);
        right = hidden.right();
    }
    painter.setPen(theme.muted);
    drawLine(painter, QRectF(right + px(8), line.top(), px(kTimeWidth + 20), line.height()),
        Qt::AlignLeft | Qt::AlignVCenter, duration(row.exposed_s));
    drawLine(painter, line, Qt::AlignRight | Qt::AlignVCenter, QStringLiteral("%1 %").arg(percent(row.share)));
}

Table StepSplit::table() const
{
    Table table;
    table.columns = {{"part", "Part"}, {"exposed_s", "Exposed s", 4}, {"hidden_s", "Hidden behind compute s", 4},
        {"share", "Share", 1, 100, " %"}};
    for (const Row& row : m_rows)
        table.rows.push_back({view::part_label(row.part), row.exposed_s, row.hidden_s, row.share});
    return table;
}

QString StepSplit::tipAt(const QPoint& point) const
{
    const int index = rowAt(point);
    if (index < 0)
        return {};
    const Row& row = m_rows[static_cast<std::size_t>(index)];
    return tr("%1: %2 exposed, %3 hidden behind compute%4\nDouble click or Enter opens the derivation")
        .arg(fromUtf8(view::part_label(row.part)), duration(row.exposed_s), duration(row.hidden_s),
            explained(fromUtf8(name(row.part))));
}

int StepSplit::rowAt(const QPoint& point) const
{
    const QRect rows = rowsArea(bodyArea());
    const int index = static_cast<int>((point.y() - rows.top()) / lineHeight(rows));
    return point.y() >= rows.top() && index < static_cast<int>(m_rows.size()) ? index : -1;
}

void StepSplit::setSelected(int row)
{
    m_selected = row;
    update();
}

void StepSplit::activate()
{
    if (m_selected >= 0 && m_selected < static_cast<int>(m_rows.size()))
        emit partActivated(fromUtf8(name(m_rows[static_cast<std::size_t>(m_selected)].part)));
}

void StepSplit::mousePressEvent(QMouseEvent* event)
{
    Card::mousePressEvent(event);
    setSelected(rowAt(event->position().toPoint()));
}

void StepSplit::mouseDoubleClickEvent(QMouseEvent* event)
{
    setSelected(rowAt(event->position().toPoint()));
    activate();
}

void StepSplit::keyPressEvent(QKeyEvent* event)
{
    if (const int step = stepDown(*event); step != 0)
        setSelected(std::clamp(m_selected + step, 0, std::max(0, static_cast<int>(m_rows.size()) - 1)));
    else if (isEnter(*event))
        activate();
    else
        Card::keyPressEvent(event);
}

} // namespace fourfold::ui
