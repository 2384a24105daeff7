// SPDX-License-Identifier: GPL-3.0-or-later
// A card of points, each a row of a model. The one nearest to the pointer is told of and clicked, arrow keys go from
// one to the next, and one is selected.
#pragma once

#include "app/desktop/widgets/cards/card.h"

#include <QImage>

#include <functional>

namespace fourfold::ui {

class ScatterCard : public Card {
    Q_OBJECT
public:
    void setSelected(int row); // of the model; -1 = none
    [[nodiscard]] int selected() const { return m_selected; }
    [[nodiscard]] int rowAt(const QPointF& point) const; // the nearest within a few pixels; -1 = none

signals:
    void rowClicked(int row);

protected:
    ScatterCard(const QString& title, const QString& emptyText, QWidget* parent);
    // Calls `visit` with every row that has a point, and where in the card.
    virtual void forEachPoint(const std::function<void(int row, const QPointF& place)>& visit) const = 0;
    [[nodiscard]] virtual QString tipOf(int row) const = 0;
    // The row that an arrow key goes to from the selected one, to the right (1) or left (-1); -1 = none. Asked only
    // where there are points.
    [[nodiscard]] virtual int neighbour(int step) const = 0;

    // For a model that changed: its words, no row selected, and the points to be drawn again.
    void showSummary(const QString& summary);
    // Runs `draw`, on screen once for many frames: thousands of points stay as they are while another is selected. It
    // paints in the card's coordinates, smoothed. A file is drawn anew, as vectors.
    void paintPoints(QPainter& painter, const Theme& theme, const std::function<void(QPainter& on)>& draw);
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    [[nodiscard]] QString tipAt(const QPoint& point) const override;

private:
    int m_selected = -1;
    QImage m_picture;
    bool m_pictureIsDark = false;
    int m_pictureZoom = 0;
};

} // namespace fourfold::ui
