// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/charts/scatter_card.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/text/text_line.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPaintEngine>

#include <algorithm>

namespace fourfold::ui {

namespace {
constexpr double kReach = 8; // pixels around a point that belong to it
} // namespace

ScatterCard::ScatterCard(
    const QString& title, const QString& emptyText, QColor Theme::*selected, const QString& axes, QWidget* parent)
    : Card(title, parent)
    , m_selectedColor(selected)
    , m_axes(axes)
{
    setFocusPolicy(Qt::StrongFocus);
    setEmptyText(emptyText);
}

void ScatterCard::setSelected(int row)
{
    if (m_selected == row)
        return;
    m_selected = row;
    update();
}

void ScatterCard::showPoints(std::vector<Point> points, const Scale& x, const Scale& y, const QString& summary)
{
    m_points = view::RowPoints(std::move(points));
    m_x = x;
    m_y = y;
    m_selected = -1;
    m_picture = {};
    setAccessibleDescription(summary);
    update();
}

Plot ScatterCard::plotIn(const QRect& area) const
{
    return {QRectF(area.adjusted(px(52), px(22), -px(8), -px(34))), m_x, m_y};
}

std::optional<QPointF> ScatterCard::placeOf(int row) const
{
    const Point* const point = m_points.of(row);
    return point ? std::optional(plotIn(bodyArea()).at(point->x, point->y)) : std::nullopt;
}

void ScatterCard::paintBody(QPainter& painter, const QRect& area, const Theme& theme)
{
    const Plot plot = plotIn(area);
    if (plot.isTiny())
        return;
    paintLegend(painter, area, theme);
    painter.setFont(scaledFont(-1));
    paintAxes(painter, plot, theme);
    painter.setPen(theme.muted);
    // In the middle of the plot where it has much room, else of the card.
    const QRectF across = lineWidth(painter.font(), m_axes) * 2 <= plot.area.width() ? plot.area : QRectF(area);
    const QRectF title(across.left(), plot.area.bottom() + px(16), across.width(), px(16));
    cut().draw(painter, title, Qt::AlignCenter, m_axes);
    painter.setClipRect(plot.area.adjusted(-px(6), -px(6), px(6), px(6)));
    painter.setRenderHint(QPainter::Antialiasing);
    paintGround(painter, plot, theme);
    paintPicture(painter, plot, theme);
    if (const auto place = placeOf(m_selected)) {
        painter.setPen(QPen(theme.text, 2));
        painter.setBrush(theme.*m_selectedColor);
        painter.drawEllipse(*place, px(5.5), px(5.5));
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setClipping(false);
}

void ScatterCard::paintPicture(QPainter& painter, const Plot& plot, const Theme& theme)
{
    if (painter.paintEngine()->type() != QPaintEngine::Raster) {
        drawPoints(painter, plot, theme);
        return;
    }
    const double ratio = painter.device()->devicePixelRatioF();
    const QSize pixels = size() * ratio;
    if (m_picture.size() != pixels || m_picture.devicePixelRatio() != ratio || m_pictureIsDark != theme.dark
        || m_pictureZoom != zoom()) {
        m_picture = QImage(pixels, QImage::Format_ARGB32_Premultiplied);
        m_picture.setDevicePixelRatio(ratio);
        m_picture.fill(Qt::transparent);
        m_pictureIsDark = theme.dark;
        m_pictureZoom = zoom();
        QPainter on(&m_picture);
        on.setRenderHint(QPainter::Antialiasing);
        drawPoints(on, plot, theme);
    }
    painter.drawImage(0, 0, m_picture);
}

int ScatterCard::rowAt(const QPointF& point) const
{
    return m_points.nearest(
        [plot = plotIn(bodyArea()), &point](const Point& at) {
            const QPointF away = plot.at(at.x, at.y) - point;
            return std::pair(away.x(), away.y());
        },
        kReach);
}

void ScatterCard::mousePressEvent(QMouseEvent* event)
{
    Card::mousePressEvent(event);
    if (const int row = rowAt(event->position()); row >= 0)
        emit rowClicked(row);
}

void ScatterCard::keyPressEvent(QKeyEvent* event)
{
    const int step = stepAcross(*event);
    if (step == 0 || isEmpty()) {
        Card::keyPressEvent(event);
        return;
    }
    emit rowClicked(m_points.beside(m_selected, step));
}

QString ScatterCard::tipAt(const QPoint& point) const
{
    const int row = isEmpty() ? -1 : rowAt(point);
    return row < 0 ? QString() : tipOf(row);
}

} // namespace fourfold::ui
