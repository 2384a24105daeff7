// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/cards/card.h"

#include "app/desktop/look/sized_for.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/cards/card_export.h"
#include "app/desktop/widgets/cards/card_frame.h"
#include "app/desktop/widgets/text/text_line.h"
#include "app/models/shared/text.h"

#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace fourfold::ui {

namespace {
constexpr int kHeaderHeight = 36; // lengths at 100 % zoom
constexpr int kLeastSubtitle = 48;
constexpr double kStaleOpacity = 0.38;
} // namespace

Card::Card(const QString& title, QWidget* parent)
    : QWidget(parent)
    , m_title(title)
{
    // A picture keeps its direction in a window from right to left: axes and steps run to the right.
    setLayoutDirection(Qt::LeftToRight);
    setAccessibleName(title);
}

void Card::setTitle(const QString& title)
{
    m_title = title;
    setAccessibleName(title);
    update();
}

void Card::setSubtitle(const QString& subtitle)
{
    if (m_subtitle == subtitle)
        return;
    m_subtitle = subtitle;
    update();
}

void Card::setStale(bool stale)
{
    if (m_stale == stale)
        return;
    m_stale = stale;
    update();
}

void Card::setEmptyText(const QString& text)
{
    m_emptyText = text;
    update();
}

QString Card::spoken() const
{
    if (isEmpty())
        return m_emptyText;
    return accessibleDescription().isEmpty() ? m_subtitle : accessibleDescription();
}

int Card::margin()
{
    return px(14);
}

int Card::stepAcross(const QKeyEvent& event)
{
    return event.key() == Qt::Key_Right ? 1 : event.key() == Qt::Key_Left ? -1 : 0;
}

int Card::stepDown(const QKeyEvent& event)
{
    return event.key() == Qt::Key_Down ? 1 : event.key() == Qt::Key_Up ? -1 : 0;
}

bool Card::isEnter(const QKeyEvent& event)
{
    return event.key() == Qt::Key_Return || event.key() == Qt::Key_Enter;
}

QSize Card::least(int width, int height)
{
    return {px(width), px(height)};
}

QRect Card::bodyArea() const
{
    return {margin(), px(kHeaderHeight), width() - 2 * margin(), height() - px(kHeaderHeight) - px(10)};
}

void Card::setHeaderReserve(int pixels)
{
    m_headerReserve = pixels;
    update();
}

QString Card::explained(const QString& part) const
{
    const QString lines = m_explain ? m_explain(part) : QString();
    return lines.isEmpty() ? lines : QLatin1Char('\n') + lines;
}

void Card::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu;
    addExports(menu, *this);
    addOwnExports(menu);
    if (!menu.isEmpty())
        menu.exec(event->globalPos());
}

bool Card::isForFile() const
{
    for (const QWidget* at = this; at; at = at->parentWidget()) {
        if (at->property(kForFile).toBool())
            return true;
    }
    return false;
}

bool Card::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString whole = m_cut.at(help->pos());
    QString tip = tipAt(help->pos());
    if (!tip.contains(whole)) // every text contains an empty one
        tip = tip.isEmpty() ? whole : whole + QLatin1Char('\n') + tip;
    QToolTip::showText(help->globalPos(), tip, this); // an empty one hides
    return true;
}

void Card::focusInEvent(QFocusEvent* event)
{
    QWidget::focusInEvent(event);
    update(); // the ring
}

void Card::focusOutEvent(QFocusEvent* event)
{
    QWidget::focusOutEvent(event);
    update();
}

void Card::paintBody(QPainter&, const QRect&, const Theme&) { }

void Card::paintEvent(QPaintEvent*)
{
    const Theme& theme = themeOf(this);
    QPainter painter(this);
    m_cut.clear();
    const bool ring = hasFocus() && focusPolicy() != Qt::NoFocus && !isForFile();
    paintFrame(painter, rect(), theme.panel, ring ? theme.accent : theme.line, ring ? 2 : 1);
    paintHeader(painter, theme);
    const QRect body = bodyArea();
    if (isEmpty()) {
        painter.setFont(scaledFont(0));
        painter.setPen(theme.muted);
        painter.drawText(body, Qt::AlignCenter | Qt::TextWordWrap, m_emptyText);
        return;
    }
    painter.setOpacity(m_stale ? kStaleOpacity : 1);
    paintBody(painter, body, theme);
}

void Card::paintHeader(QPainter& painter, const Theme& theme) const
{
    if (m_title.isEmpty())
        return;
    painter.setPen(theme.text);
    painter.setFont(scaledFont(0.5, QFont::DemiBold));
    const int reserve = isForFile() ? 0 : m_headerReserve; // what stands there is not in the picture
    const QRect line(margin(), px(8), width() - 2 * margin() - reserve, px(20));
    const int titleWidth = std::min(lineWidth(painter.font(), m_title), line.width());
    m_cut.draw(
        painter, QRect(line.topLeft(), QSize(titleWidth, line.height())), Qt::AlignLeft | Qt::AlignVCenter, m_title);
    const QString text = m_stale ? tr("for the last valid plan") : m_subtitle;
    painter.setPen(m_stale ? theme.warning : theme.muted);
    painter.setFont(scaledFont(-0.5));
    const QRect rest = line.adjusted(titleWidth + px(10), 0, 0, 0);
    if (rest.width() >= px(kLeastSubtitle))
        m_cut.draw(painter, rest, Qt::AlignLeft | Qt::AlignVCenter, text);
    else if (!text.isEmpty()) // two letters and an ellipsis tell nobody anything
        m_cut.note(line, m_title + QLatin1Char('\n') + text);
}

void Card::fillShape(QPainter& painter, const QRectF& shape, const QColor& color, Fill fill, const Theme& theme)
{
    if (shape.width() <= 0 || shape.height() <= 0)
        return;
    const QColor veil(255, 255, 255, theme.dark ? 105 : 130);
    if (fill == Fill::outlined) {
        painter.fillRect(shape, theme.idle);
        painter.fillRect(shape, QBrush(color, Qt::BDiagPattern));
    } else {
        painter.fillRect(shape, color);
        if (fill == Fill::hatched)
            painter.fillRect(shape, QBrush(veil, Qt::BDiagPattern));
        else if (fill == Fill::dotted)
            painter.fillRect(shape, QBrush(veil, Qt::Dense6Pattern));
    }
    if (shape.width() < 4 || shape.height() < 4)
        return;
    const QColor outline = fill == Fill::outlined ? color : theme.dark ? color.lighter(125) : color.darker(150);
    painter.setPen(QPen(outline, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(shape.adjusted(0, 0, -1, -1));
}

int Card::drawLegend(
    QPainter& painter, int x, int baseline, const QColor& color, const QString& text, Fill fill, const Theme& theme)
{
    fillShape(painter, QRectF(x, baseline - px(9), px(11), px(11)), color, fill, theme);
    return drawLegendText(painter, x + px(16), baseline, text, theme);
}

int Card::drawLegendText(QPainter& painter, int x, int baseline, const QString& text, const Theme& theme)
{
    painter.setPen(theme.muted);
    painter.setFont(scaledFont(-0.5));
    drawLine(painter, x, baseline, text);
    return x + lineWidth(painter.font(), text) + px(16);
}

} // namespace fourfold::ui
