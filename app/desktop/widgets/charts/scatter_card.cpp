// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/charts/scatter_card.h"

#include "app/desktop/look/zoom.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPaintEngine>
#include <QPainter>

namespace fourfold::ui {

namespace {
constexpr double kReach = 8; // pixels around a point that belong to it
} // namespace

ScatterCard::ScatterCard(const QString& title, const QString& emptyText, QWidget* parent)
    : Card(title, parent)
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

void ScatterCard::showSummary(const QString& summary)
{
    m_selected = -1;
    m_picture = {};
    setSubtitle(summary);
    setAccessibleDescription(summary);
    update();
}

void ScatterCard::paintPoints(QPainter& painter, const Theme& theme, const std::function<void(QPainter& on)>& draw)
{
    if (painter.paintEngine()->type() != QPaintEngine::Raster) {
        draw(painter);
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
        draw(on);
    }
    painter.drawImage(0, 0, m_picture);
}

int ScatterCard::rowAt(const QPointF& point) const
{
    int nearest = -1;
    double best = kReach * kReach;
    forEachPoint([&](int row, const QPointF& place) {
        const QPointF away = place - point;
        if (const double distance = QPointF::dotProduct(away, away); distance < best) {
            best = distance;
            nearest = row;
        }
    });
    return nearest;
}

void ScatterCard::mousePressEvent(QMouseEvent* event)
{
    Card::mousePressEvent(event);
    if (const int row = rowAt(event->position()); row >= 0)
        emit rowClicked(row);
}

void ScatterCard::keyPressEvent(QKeyEvent* event)
{
    const int step = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
    if (step == 0 || isEmpty()) {
        Card::keyPressEvent(event);
        return;
    }
    if (const int row = neighbour(step); row >= 0)
        emit rowClicked(row);
}

QString ScatterCard::tipAt(const QPoint& point) const
{
    const int row = isEmpty() ? -1 : rowAt(point);
    return row < 0 ? QString() : tipOf(row);
}

} // namespace fourfold::ui
