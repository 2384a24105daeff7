// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/cards/figure_card.h"

#include "app/desktop/look/sized_for.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/text/text_line.h"
#include "app/models/shared/text.h"

#include <QFontInfo>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>

namespace fourfold::ui {

namespace {
constexpr int kCardHeight = 112;
constexpr double kStaleCardOpacity = 0.45;

QColor meterColor(Tone tone, const Theme& theme)
{
    return tone == Tone::neutral ? theme.accent : theme.toneColor(tone);
}

// On paper nothing can be asked for what was cut, but it can be looked at closely: a text that is too long is smaller.
void fitOnPaper(QPainter& painter, const QWidget* card, const QString& text, int width)
{
    const QWidget* drawn = card;
    while (drawn && !drawn->property(kForFile).toBool())
        drawn = drawn->parentWidget();
    const int needed = lineWidth(painter.font(), text);
    if (!drawn || needed <= width)
        return;
    QFont font = painter.font();
    font.setPixelSize(std::max(1, QFontInfo(font).pixelSize() * width / needed));
    painter.setFont(font);
}
} // namespace

FigureCard::FigureCard(QWidget* parent)
    : Card({}, parent)
{
    fixHeight(this, kCardHeight);
    limitWidth(this, kLeastWidth);
}

void FigureCard::show(const view::Figure& figure)
{
    m_figure = figure;
    setAccessibleName(fromUtf8(figure.title));
    setAccessibleDescription(
        fromUtf8(figure.value + ' ' + figure.unit + ". " + figure.basis + ". " + figure.confidence));
    update();
}

Table FigureCard::table() const
{
    Table table;
    table.columns = {{"figure", tr("Figure").toStdString()}, {"value", tr("Value").toStdString()},
        {"unit", tr("Unit").toStdString()}, {"basis", tr("Against").toStdString()},
        {"confidence", tr("Confidence").toStdString()}};
    table.rows.push_back({m_figure.title, m_figure.value, m_figure.unit, m_figure.basis, m_figure.confidence});
    return table;
}

QString FigureCard::tip() const
{
    QStringList lines = fromUtf8({m_figure.basis, m_figure.confidence, m_figure.detail});
    lines.removeAll(QString());
    return lines.join(QLatin1Char('\n')) + explained({});
}

QString FigureCard::tipAt(const QPoint&) const
{
    return tip();
}

void FigureCard::setOpens(bool opens)
{
    m_opens = opens;
    setFocusPolicy(opens ? Qt::StrongFocus : Qt::NoFocus);
    setCursor(opens ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void FigureCard::mouseReleaseEvent(QMouseEvent* event)
{
    if (m_opens && event->button() == Qt::LeftButton && rect().contains(event->position().toPoint()))
        emit activated();
}

void FigureCard::keyPressEvent(QKeyEvent* event)
{
    if (m_opens && (isEnter(*event) || event->key() == Qt::Key_Space))
        emit activated();
    else
        Card::keyPressEvent(event);
}

void FigureCard::paintEvent(QPaintEvent* event)
{
    Card::paintEvent(event);
    const Theme& theme = themeOf(this);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const int textWidth = width() - 2 * margin();

    painter.setPen(theme.muted);
    painter.setFont(scaledFont(-0.5, QFont::Medium));
    const QString title = fromUtf8(m_figure.title);
    fitOnPaper(painter, this, title, textWidth);
    cut().draw(painter, QRect(margin(), px(9), textWidth, px(18)), Qt::AlignVCenter | Qt::AlignLeft, title);

    painter.setOpacity(isStale() ? kStaleCardOpacity : 1);
    painter.setPen(theme.text);
    painter.setFont(scaledFont(9, QFont::DemiBold));
    const int baseline = px(54);
    const QString value = fromUtf8(m_figure.value), unit = fromUtf8(m_figure.unit);
    drawLine(painter, margin(), baseline, value);
    const int numberWidth = lineWidth(painter.font(), value);
    painter.setFont(scaledFont(0));
    painter.setPen(theme.muted);
    const int unitLeft = margin() + numberWidth + px(6);
    const int unitRoom = width() - unitLeft - px(8);
    const bool tooLong = lineWidth(painter.font(), unit) > unitRoom;
    drawLine(
        painter, unitLeft, baseline, tooLong && !m_figure.short_unit.empty() ? fromUtf8(m_figure.short_unit) : unit);

    if (m_figure.fraction >= 0) {
        QRectF meter(margin(), px(63), textWidth, px(5));
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme.grid);
        painter.drawRoundedRect(meter, 2.5, 2.5);
        meter.setWidth(std::max(meter.height(), meter.width() * m_figure.fraction));
        painter.setBrush(meterColor(m_figure.tone, theme));
        if (m_figure.fraction > 0)
            painter.drawRoundedRect(meter, 2.5, 2.5);
    }
    painter.setPen(theme.muted);
    const auto note = [&](int top, const QString& text) {
        painter.setFont(scaledFont(-1));
        fitOnPaper(painter, this, text, textWidth);
        cut().draw(painter, QRect(margin(), px(top), textWidth + 4, px(16)), Qt::AlignVCenter | Qt::AlignLeft, text);
    };
    note(73, fromUtf8(m_figure.basis));
    if (isStale()) {
        painter.setOpacity(1);
        painter.setPen(theme.warning);
    }
    note(89, isStale() ? tr("for the last valid plan") : fromUtf8(m_figure.confidence));
}

} // namespace fourfold::ui
