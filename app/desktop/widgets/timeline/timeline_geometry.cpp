// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/timeline/timeline_geometry.h"

#include "app/desktop/look/zoom.h"

#include <algorithm>
#include <cmath>

namespace fourfold::ui {

namespace {
constexpr int kTimelineLegendHeight = 20;
constexpr int kAxisHeight = 18;
constexpr int kOverviewHeight = 26;
constexpr int kOverviewGap = 10;
constexpr int kStageNames = 62, kStreamNames = 190;
constexpr double kTallestRow = 40, kFewRows = 200; // one row, or some few together
} // namespace

TimelineGeometry::TimelineGeometry(
    const QRect& body, const TimelineScene& scene, const TimelineWindow& window, bool hasOverview)
    : window(window)
    , stages(scene.rows())
    , namesWidth(px(scene.has_kernels() ? kStreamNames : kStageNames))
    , rows(body.adjusted(namesWidth, px(kTimelineLegendHeight + kAxisHeight), 0,
          hasOverview ? -px(kOverviewHeight + kOverviewGap) : 0))
{
    const int count = std::max(1, stages);
    const double tallest = std::max(double(px(kTallestRow)), double(px(kFewRows)) / count);
    rowHeight = std::min(tallest, double(rows.height()) / count);
    gap = rowHeight >= 14 ? 4 : rowHeight >= 6 ? 1 : 0;
    if (!hasOverview)
        return;
    // Right under the rows: few stages do not fill a tall window.
    const int rowsEnd = rows.top() + static_cast<int>(std::ceil(rowHeight * count));
    const int top = std::min(body.bottom() - px(kOverviewHeight) + 1, rowsEnd + px(kOverviewGap));
    overview = QRect(rows.left(), top, rows.width(), px(kOverviewHeight));
}

double TimelineGeometry::timeAt(double x) const
{
    return window.begin() + (x - rows.left()) / std::max(1, rows.width()) * window.span();
}

double TimelineGeometry::xAt(double time) const
{
    return rows.left() + (time - window.begin()) / window.span() * rows.width();
}

QRectF TimelineGeometry::barRect(const TimelineScene& scene, const BarRef& ref) const
{
    const TimelineBar& bar = scene.bar(ref);
    const double left = std::max(double(rows.left()), xAt(bar.start_s));
    const double right = std::min(double(rows.right() + 1), xAt(bar.end_s));
    if (right <= left)
        return {};
    return {left, rows.top() + ref.row * rowHeight, right - left, rowHeight - gap};
}

} // namespace fourfold::ui
