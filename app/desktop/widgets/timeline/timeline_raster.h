// SPDX-License-Identifier: GPL-3.0-or-later
// Draws a timeline into an image by coverage: each pixel column of a row gets the mean colour of what runs during it.
// Area-true at every zoom, no moire, and the cost does not grow with the size of the bars.
#pragma once

#include "app/desktop/look/theme.h"
#include "app/view/prediction/timeline_scene.h"

#include <QImage>

class QPainter;

namespace fourfold::ui {

using view::BarKind;
using view::BarRef;
using view::TimelineBar;
using view::TimelineScene;
using view::TimelineWindow;

QColor timelineColor(BarKind kind, const Theme& theme);

// Rows of `rowHeight` pixels (may be below 1) with `gap` free pixels between them, over [begin, end) seconds. The image
// has the device pixel ratio set; sizes are in logical pixels.
QImage rasterTimeline(const TimelineScene& scene, double begin, double end, const QSize& size, double rowHeight,
    int gap, double devicePixelRatio, const Theme& theme);

// The same into a vector picture, as rectangles: their edges are true to an eighth of a pixel, and there are no more of
// them than columns to tell apart.
void drawTimeline(QPainter& painter, const TimelineScene& scene, double begin, double end, const QRect& place,
    double rowHeight, int gap, const Theme& theme);

} // namespace fourfold::ui
