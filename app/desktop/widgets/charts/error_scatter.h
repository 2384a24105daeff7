// SPDX-License-Identifier: GPL-3.0-or-later
// Predicted against measured throughput of the runs on show, over logarithmic axes; the line is where they agree, the
// band 10 % on either side.
#pragma once

#include "app/desktop/widgets/charts/scatter_card.h"
#include "app/models/history/history_model.h"

namespace fourfold::ui {

class ErrorScatter : public ScatterCard {
    Q_OBJECT
public:
    // `model` outlives the widget.
    explicit ErrorScatter(const HistoryModel& model, QWidget* parent = nullptr);
    [[nodiscard]] std::optional<QPointF> placeOf(int row) const; // empty: without a prediction or a measurement
    [[nodiscard]] QSize minimumSizeHint() const override { return least(240, 180); }
    [[nodiscard]] Table table() const override;

protected:
    void paintBody(QPainter& painter, const QRect& area, const Theme& theme) override;
    [[nodiscard]] bool isEmpty() const override { return m_points.empty(); }
    void forEachPoint(const std::function<void(int row, const QPointF& place)>& visit) const override;
    [[nodiscard]] QString tipOf(int row) const override;
    [[nodiscard]] int neighbour(int step) const override;

private:
    struct Point {
        int row = 0;
        double measured = 0, predicted = 0; // tokens/s per GPU
    };
    struct Axes {
        QRectF plot;
        double low = 1, high = 10; // of both axes
        [[nodiscard]] QPointF at(double measured, double predicted) const;
    };
    void modelChanged();
    [[nodiscard]] Axes axesIn(const QRect& area) const;
    static std::vector<double> ticks(const Axes& axes); // values with a line and a number
    void paintAxes(QPainter& painter, const Axes& axes, const Theme& theme) const;
    void drawPoints(QPainter& painter, const Axes& axes, const Theme& theme) const;

    const HistoryModel& m_model;
    std::vector<Point> m_points; // by what was measured
};

} // namespace fourfold::ui
