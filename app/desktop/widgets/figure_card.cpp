// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/figure_card.h"

#include <QPainter>

namespace fourfold::ui {

namespace {
constexpr int kHeight = 112;
constexpr double kStaleOpacity = 0.45;

QColor meterColor(Tone tone, const Theme& theme)
{
    return tone == Tone::neutral ? theme.accent : theme.toneColor(tone);
}
} // namespace

FigureCard::FigureCard(QWidget* parent)
    : Card({}, parent)
{
    setFixedHeight(kHeight);
    setMinimumWidth(150);
}

void FigureCard::show(const Figure& figure)
{
    m_figure = figure;
    setAccessibleName(figure.title);
    setAccessibleDescription(
        QStringLiteral("%1 %2. %3. %4").arg(figure.value, figure.unit, figure.basis, figure.confidence));
    setToolTip(QStringLiteral("%1\n%2\n%3").arg(figure.basis, figure.confidence, figure.detail).trimmed());
    update();
}

void FigureCard::paintEvent(QPaintEvent* event)
{
    Card::paintEvent(event);
    const Theme& theme = themeOf(this);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const int textWidth = width() - 2 * kMargin;

    painter.setPen(theme.muted);
    painter.setFont(scaledFont(-0.5, QFont::Medium));
    painter.drawText(QRect(kMargin, 9, textWidth, 18), Qt::AlignVCenter | Qt::AlignLeft, m_figure.title);

    painter.setOpacity(isStale() ? kStaleOpacity : 1);
    painter.setPen(theme.text);
    painter.setFont(scaledFont(9, QFont::DemiBold));
    const int baseline = 54;
    painter.drawText(kMargin, baseline, m_figure.value);
    const int numberWidth = painter.fontMetrics().horizontalAdvance(m_figure.value);
    painter.setFont(scaledFont(0));
    painter.setPen(theme.muted);
    const int unitLeft = kMargin + numberWidth + 6;
    const int unitRoom = width() - unitLeft - 8;
    const bool tooLong = painter.fontMetrics().horizontalAdvance(m_figure.unit) > unitRoom;
    painter.drawText(unitLeft, baseline, tooLong && !m_figure.shortUnit.isEmpty() ? m_figure.shortUnit : m_figure.unit);

    if (m_figure.fraction >= 0) {
        QRectF meter(kMargin, 63, textWidth, 5);
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme.grid);
        painter.drawRoundedRect(meter, 2.5, 2.5);
        meter.setWidth(std::max(meter.height(), meter.width() * m_figure.fraction));
        painter.setBrush(meterColor(m_figure.tone, theme));
        if (m_figure.fraction > 0)
            painter.drawRoundedRect(meter, 2.5, 2.5);
    }
    painter.setPen(theme.muted);
    painter.setFont(scaledFont(-1));
    const auto note = [&](int top, const QString& text) {
        painter.drawText(QRect(kMargin, top, textWidth + 4, 16), Qt::AlignVCenter | Qt::AlignLeft,
            painter.fontMetrics().elidedText(text, Qt::ElideRight, textWidth + 4));
    };
    note(73, m_figure.basis);
    if (isStale()) {
        painter.setOpacity(1);
        painter.setPen(theme.warning);
    }
    note(89, isStale() ? tr("for the last valid plan") : m_figure.confidence);
}

} // namespace fourfold::ui
