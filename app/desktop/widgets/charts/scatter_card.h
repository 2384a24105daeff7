// SPDX-License-Identifier: GPL-3.0-or-later
// A card of points, each a row of a model, over two scales. The one nearest to the pointer is told of and clicked,
// arrow keys go from one to the next along x, and one is selected.
#pragma once

#include "app/desktop/widgets/cards/card.h"
#include "app/desktop/widgets/charts/plot.h"
#include "app/view/points.h"

#include <QImage>

#include <functional>
#include <optional>

namespace fourfold::ui {

class ScatterCard : public Card {
    Q_OBJECT
public:
    void setSelected(int row); // of the model; -1 = none
    [[nodiscard]] int selected() const { return m_selected; }
    [[nodiscard]] int rowAt(const QPointF& point) const; // the nearest within a few pixels; -1 = none
    [[nodiscard]] std::optional<QPointF> placeOf(int row) const; // in the card; empty: the row has no point

signals:
    void rowClicked(int row);

protected:
    using Point = view::RowPoint;
    // `selected`: the theme's colour of the selected point; `axes` names both.
    ScatterCard(
        const QString& title, const QString& emptyText, QColor Theme::*selected, const QString& axes, QWidget* parent);
    // For a model that changed: its points and their scales, and its words. No row is selected then.
    void showPoints(std::vector<Point> points, const Scale& x, const Scale& y, const QString& summary);
    [[nodiscard]] const std::vector<Point>& points() const { return m_points.all(); } // by x
    [[nodiscard]] virtual QString tipOf(int row) const = 0;
    virtual void paintLegend(QPainter& painter, const QRect& area, const Theme& theme) = 0;
    // The numbers at both sides.
    virtual void paintAxes(QPainter& painter, const Plot& plot, const Theme& theme) const = 0;
    // What lies behind the points.
    virtual void paintGround(QPainter&, const Plot&, const Theme&) const { }
    // In the card's coordinates, smoothed. On screen it is called once for many frames: thousands of points stay as
    // they are while another is selected. A file is drawn anew, as vectors.
    virtual void drawPoints(QPainter& painter, const Plot& plot, const Theme& theme) const = 0;

    void paintBody(QPainter& painter, const QRect& area, const Theme& theme) override;
    [[nodiscard]] bool isEmpty() const override { return m_points.empty(); }
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    [[nodiscard]] QString tipAt(const QPoint& point) const override;

private:
    [[nodiscard]] Plot plotIn(const QRect& area) const;
    void paintPicture(QPainter& painter, const Plot& plot, const Theme& theme);

    view::RowPoints m_points;
    Scale m_x, m_y;
    QColor Theme::*m_selectedColor;
    QString m_axes;
    int m_selected = -1;
    QImage m_picture;
    bool m_pictureIsDark = false;
    int m_pictureZoom = 0;
};

} // namespace fourfold::ui
