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
    [[nodiscard]] QSize minimumSizeHint() const override { return least(290, 200); }
    [[nodiscard]] Table table() const override { return m_model.results().table(kMostTableRows); }

protected:
    void paintLegend(QPainter& painter, const QRect& area, const Theme& theme) override;
    void paintAxes(QPainter& painter, const Plot& plot, const Theme& theme) const override;
    void drawPoints(QPainter& painter, const Plot& plot, const Theme& theme) const override;
    [[nodiscard]] QString tipOf(int row) const override;

private:
    static constexpr int kMostTableRows = 100'000;
    void modelChanged();
    [[nodiscard]] bool isFront(const Point& point) const
    {
        return m_model.results().is_pareto(m_model.idOf(point.row));
    }

    const ResultsModel& m_model;
    QString m_layouts, m_front; // how many, in the legend
};

} // namespace fourfold::ui
