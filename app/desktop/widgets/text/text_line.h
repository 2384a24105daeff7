// SPDX-License-Identifier: GPL-3.0-or-later
// Single lines of text in pictures. An edit paints hundreds of them and few are new, so each is shaped once for its
// font and kept; QPainter::drawText shapes every time, which was a third of the time of an edit.
#pragma once

#include <QRectF>
#include <Qt>

class QFont;
class QPainter;
class QString;

namespace fourfold::ui {

// As QPainter::drawText, with the painter's font and pen.
void drawLine(QPainter& painter, const QRectF& place, Qt::Alignment alignment, const QString& text);
void drawLine(QPainter& painter, int x, int baseline, const QString& text);
// In logical pixels, as QFontMetrics.
int lineWidth(const QFont& font, const QString& text);
// Cut where it is longer, at its end unless `mode` says another place.
QString elidedLine(const QFont& font, const QString& text, int width, Qt::TextElideMode mode = Qt::ElideRight);

} // namespace fourfold::ui
