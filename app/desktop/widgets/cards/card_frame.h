// SPDX-License-Identifier: GPL-3.0-or-later
// The rounded frame of a card. A page has a dozen of them, each as large as a picture, in every frame of an edit.
#pragma once

#include <QColor>

class QPainter;
class QRect;

namespace fourfold::ui {

// Fills `place` with `ground` and draws its outline inside, `width` logical pixels wide.
void paintFrame(QPainter& painter, const QRect& place, const QColor& ground, const QColor& line, int width);

} // namespace fourfold::ui
