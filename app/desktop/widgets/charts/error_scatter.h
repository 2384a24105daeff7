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
    [[nodiscard]] QSize minimumSizeHint() const override { return least(240, 180); }
    [[nodiscard]] Table table() const override;

protected:
    void paintLegend(QPainter& painter, const QRect& area, const Theme& theme) override;
    void paintAxes(QPainter& painter, const Plot& plot, const Theme& theme) const override;
    void paintGround(QPainter& painter, const Plot& plot, const Theme& theme) const override;
    void drawPoints(QPainter& painter, const Plot& plot, const Theme& theme) const override;
    [[nodiscard]] QString tipOf(int row) const override;

private:
    void modelChanged();

    const HistoryModel& m_model;
};

} // namespace fourfold::ui
