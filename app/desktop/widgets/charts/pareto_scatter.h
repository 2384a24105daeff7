// SPDX-License-Identifier: GPL-3.0-or-later
// Found layouts as points: memory across, throughput up, the Pareto front as rings; linked to the table by the row.
#pragma once

#include "app/desktop/widgets/charts/scatter_card.h"
#include "app/models/search/results_model.h"

namespace fourfold::ui {

class ParetoScatter : public ScatterCard {
    Q_OBJECT
public:
    // `model` outlives the widget. Shows the rows that the model shows.
    explicit ParetoScatter(const ResultsModel& model, QWidget* parent = nullptr);
    [[nodiscard]] QPointF placeOf(int row) const;
    [[nodiscard]] QSize minimumSizeHint() const override { return least(290, 200); }
    [[nodiscard]] Table table() const override { return m_model.table(kMostTableRows); }

protected:
    void paintBody(QPainter& painter, const QRect& area, const Theme& theme) override;
    [[nodiscard]] bool isEmpty() const override { return m_model.rowCount() == 0; }
    void forEachPoint(const std::function<void(int row, const QPointF& place)>& visit) const override;
    [[nodiscard]] QString tipOf(int row) const override;
    [[nodiscard]] int neighbour(int step) const override;

private:
    static constexpr int kMostTableRows = 100'000;
    struct Axes {
        QRectF plot;
        double right = 1, top = 1; // GiB, tokens/s per GPU
    };
    void modelChanged();
    [[nodiscard]] QString layoutsText() const; // in the legend
    [[nodiscard]] QString frontText() const;
    [[nodiscard]] Axes axesIn(const QRect& area) const;
    [[nodiscard]] QPointF at(const Axes& axes, int row) const;
    void paintAxes(QPainter& painter, const QRect& area, const Axes& axes, const Theme& theme) const;
    void drawPoints(QPainter& painter, const Axes& axes, const Theme& theme) const;

    const ResultsModel& m_model;
    double m_mostMemory = 0, m_mostThroughput = 0;
    int m_front = 0; // layouts of the Pareto front on show
};

} // namespace fourfold::ui
