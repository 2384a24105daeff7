// SPDX-License-Identifier: GPL-3.0-or-later
// A table of layouts x GPUs as a heat map. Numbers stand in the cells; colour only repeats them. What did not run is
// hatched and named.
#pragma once

#include "app/desktop/widgets/cards/card.h"
#include "app/models/search/heat_grid.h"

#include <optional>
#include <utility>

namespace fourfold::ui {

class HeatMap : public Card {
    Q_OBJECT
public:
    explicit HeatMap(const QString& title, QWidget* parent = nullptr);

    void show(HeatGrid grid, Table table);
    using Card::show;
    [[nodiscard]] const HeatGrid& grid() const { return m_grid; }
    using Place = std::pair<int, int>; // row, column
    [[nodiscard]] std::optional<Place> selected() const { return m_selected; }
    void select(std::optional<Place> place);
    [[nodiscard]] std::optional<Place> placeAt(const QPointF& point) const;
    [[nodiscard]] QRectF cellRect(const Place& place) const;
    static QColor inkOn(const QColor& ground); // of numbers in a cell
    [[nodiscard]] QSize minimumSizeHint() const override;
    [[nodiscard]] Table table() const override { return m_table; }

signals:
    void selectionChanged();
    void activated(int row, int column); // double click or Enter

protected:
    void paintBody(QPainter& painter, const QRect& area, const Theme& theme) override;
    [[nodiscard]] bool isEmpty() const override { return m_grid.rows.isEmpty() || m_grid.columns.isEmpty(); }
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    [[nodiscard]] QString tipAt(const QPoint& point) const override;

private:
    struct Geometry {
        QRectF cells;
        double width = 0, height = 0; // of one cell
    };
    [[nodiscard]] Geometry geometryIn(const QRect& area) const;
    void paintCell(QPainter& painter, const QRectF& rect, const HeatCell& cell, const Theme& theme) const;
    void paintScale(QPainter& painter, const QRect& area, const Theme& theme) const;
    [[nodiscard]] QColor colorOf(double value, const Theme& theme) const;

    HeatGrid m_grid;
    Table m_table;
    double m_least = 0, m_greatest = 0; // of the values on show
    std::optional<Place> m_selected;
};

} // namespace fourfold::ui
