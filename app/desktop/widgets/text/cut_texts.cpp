// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/text/cut_texts.h"

#include "app/desktop/widgets/text/text_line.h"

#include <QPainter>

namespace fourfold::ui {

void CutTexts::draw(
    QPainter& painter, const QRectF& place, Qt::Alignment alignment, const QString& text, Qt::TextElideMode mode)
{
    const QString shown = elidedLine(painter.font(), text, static_cast<int>(place.width()), mode);
    if (shown != text)
        note(place, text);
    drawLine(painter, place, alignment, shown);
}

void CutTexts::draw(QPainter& painter, int x, int baseline, int width, const QString& text, Qt::TextElideMode mode)
{
    const QString shown = elidedLine(painter.font(), text, width, mode);
    const QFontMetrics metrics = painter.fontMetrics();
    if (shown != text)
        note(QRect(x, baseline - metrics.ascent(), width, metrics.height()), text);
    drawLine(painter, x, baseline, shown);
}

QString CutTexts::at(const QPointF& point) const
{
    for (const Text& text : m_texts) {
        if (text.place.contains(point))
            return text.whole;
    }
    return {};
}

} // namespace fourfold::ui
