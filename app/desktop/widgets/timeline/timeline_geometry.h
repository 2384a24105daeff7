// SPDX-License-Identifier: GPL-3.0-or-later
// Where the parts of a timeline are in its widget, and which time is where.
#pragma once

#include "app/view/prediction/timeline_scene.h"

#include <QRect>

namespace fourfold::ui {

using view::BarKind;
using view::BarRef;
using view::kBarKinds;
using view::TimelineBar;
using view::TimelineScene;
using view::TimelineWindow;

struct TimelineGeometry {
    // In the body of a card, in logical pixels. `window` must outlive it. Without an overview its strip is empty.
    TimelineGeometry(
        const QRect& body, const TimelineScene& scene, const TimelineWindow& window, bool hasOverview = true);

    [[nodiscard]] double timeAt(double x) const;
    [[nodiscard]] double xAt(double time) const;
    [[nodiscard]] double bottom() const { return rows.top() + rowHeight * stages; } // of the rows as they are drawn
    // Where a bar is drawn, clipped to the part on show; empty when it is outside.
    [[nodiscard]] QRectF barRect(const TimelineScene& scene, const BarRef& ref) const;

    const TimelineWindow& window;
    int stages; // rows
    int namesWidth; // pixels for their names
    QRect rows, overview;
    double rowHeight = 0;
    int gap = 0; // free pixels between rows
};

} // namespace fourfold::ui
