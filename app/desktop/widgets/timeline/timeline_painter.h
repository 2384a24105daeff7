// SPDX-License-Identifier: GPL-3.0-or-later
// How a timeline looks; what it does is in timeline_view.h.
#pragma once

#include "app/desktop/look/theme.h"
#include "app/desktop/widgets/cards/card.h"
#include "app/desktop/widgets/text/cut_texts.h"
#include "app/desktop/widgets/timeline/timeline_geometry.h"

#include <QCoreApplication>
#include <QImage>
#include <QStringList>

#include <optional>
#include <utility>
#include <vector>

class QPainter;

namespace fourfold::ui {

// What linked views have in common besides the part of the axis; times in seconds.
struct TimelineRulers {
    std::optional<double> pointer; // of the view that the mouse is over
    std::optional<int> microBatch; // outlined
    std::optional<std::pair<double, double>> measured; // begin before end
    std::vector<double> marks; // rising
};

// All that is drawn, as it is now.
struct TimelinePicture {
    const TimelineScene& scene;
    const TimelineGeometry& at;
    const TimelineRulers& rulers;
    CutTexts& cut; // told what the legend had no room for
    QRect area; // the card's body
    QSize size; // of the card, which the words over a bar stay within
    double pixelRatio = 1;
    std::optional<BarRef> selected;
    int selectedStage = -1;
    QStringList words; // over the bar under the pointer; empty: none
    QPointF pointer;
    bool pointsHere = false; // the pointer of the rulers is this view's
    bool focused = false;
    bool forFile = false; // without what only the mouse or the keyboard made
};

Card::Fill timelineFill(BarKind kind); // besides timelineColor()

class TimelinePainter {
    Q_DECLARE_TR_FUNCTIONS(fourfold::ui::TimelineView)
public:
    void paint(QPainter& painter, const TimelinePicture& picture, const Theme& theme);
    // Another part of the axis is on show; another scene.
    void forgetRows() { m_rowsImage = {}; }
    void forgetAll() { m_rowsImage = m_overviewImage = {}; }

private:
    void paintRows(QPainter& painter, const TimelinePicture& picture, const Theme& theme);
    void paintOverview(QPainter& painter, const TimelinePicture& picture, const Theme& theme);

    QImage m_rowsImage, m_overviewImage;
    bool m_isDark = false;
};

} // namespace fourfold::ui
