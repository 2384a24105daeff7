// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/cards/card_frame.h"

#include <QImage>
#include <QPaintEngine>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace fourfold::ui {

namespace {
constexpr double kRadius = 5;
constexpr int kCorner = 7; // logical pixels in which a corner and its smoothed edge lie

void drawWhole(QPainter& painter, const QRectF& place, const QColor& ground, const QColor& line, int width)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(line, width));
    painter.setBrush(ground);
    painter.drawRoundedRect(place.adjusted(0.5, 0.5, -0.5, -0.5), kRadius, kRadius);
    painter.restore();
}

// A frame just large enough for its four corners.
const QImage& smallFrame(const QColor& ground, const QColor& line, int width, double ratio)
{
    static std::map<std::tuple<QRgb, QRgb, int, double>, QImage> known;
    QImage& image = known[{ground.rgba(), line.rgba(), width, ratio}];
    if (image.isNull()) {
        const int side = static_cast<int>(2 * kCorner * ratio);
        image = QImage(side, side, QImage::Format_ARGB32_Premultiplied);
        image.setDevicePixelRatio(ratio);
        image.fill(Qt::transparent);
        QPainter painter(&image);
        drawWhole(painter, QRectF(0, 0, 2 * kCorner, 2 * kCorner), ground, line, width);
    }
    return image;
}
} // namespace

// Filling and stroking one large smoothed path costs a hundred times as much as rectangles and four small pictures; a
// vector format gets the path.
void paintFrame(QPainter& painter, const QRect& place, const QColor& ground, const QColor& line, int width)
{
    const double ratio = painter.device()->devicePixelRatioF();
    const bool raster = painter.paintEngine()->type() == QPaintEngine::Raster;
    if (!raster || ratio != std::floor(ratio) || place.width() < 2 * kCorner || place.height() < 2 * kCorner) {
        drawWhole(painter, place, ground, line, width);
        return;
    }
    const int right = place.right() + 1, bottom = place.bottom() + 1;
    const int across = place.width() - 2 * kCorner, down = place.height() - 2 * kCorner;
    painter.fillRect(place.adjusted(0, kCorner, 0, -kCorner), ground);
    painter.fillRect(QRect(place.left() + kCorner, place.top(), across, kCorner), ground);
    painter.fillRect(QRect(place.left() + kCorner, bottom - kCorner, across, kCorner), ground);
    // As the path lies: half a pixel inside, half of a wide line beyond it.
    const double inside = 0.5 + width / 2.0;
    const double thick = std::min(double(width), inside);
    painter.fillRect(QRectF(place.left() + kCorner, place.top() + inside - thick, across, thick), line);
    painter.fillRect(QRectF(place.left() + kCorner, bottom - inside, across, thick), line);
    painter.fillRect(QRectF(place.left() + inside - thick, place.top() + kCorner, thick, down), line);
    painter.fillRect(QRectF(right - inside, place.top() + kCorner, thick, down), line);
    const QImage& corners = smallFrame(ground, line, width, ratio);
    const QSize size = QSize(kCorner, kCorner) * ratio;
    const int far = static_cast<int>(kCorner * ratio);
    for (const auto& [x, y] : {std::pair(0, 0), std::pair(1, 0), std::pair(0, 1), std::pair(1, 1)}) {
        painter.drawImage(
            QRectF(x ? right - kCorner : place.left(), y ? bottom - kCorner : place.top(), kCorner, kCorner), corners,
            QRectF(QPointF(x * far, y * far), size));
    }
}

} // namespace fourfold::ui
