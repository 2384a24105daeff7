// SPDX-License-Identifier: GPL-3.0-or-later
// Memory per pipeline stage as stacked bars against the usable memory of the GPU.
#pragma once

#include "app/desktop/widgets/cards/card.h"
#include "app/models/prediction/stage_memory_model.h"

namespace fourfold::ui {

class MemoryBars : public Card {
    Q_OBJECT
public:
    // `model` outlives the widget.
    explicit MemoryBars(const StageMemoryModel& model, QWidget* parent = nullptr);

    // The stage marked in every picture of the page; -1 = none.
    void setSelectedStage(int stage);
    // Stage under a point of the widget, -1 outside.
    [[nodiscard]] int stageAt(const QPoint& point) const;
    [[nodiscard]] QSize minimumSizeHint() const override { return least(300, 225); }
    [[nodiscard]] Table table() const override;

signals:
    void stageClicked(int stage);
    void stageActivated(int stage); // double click or Enter

protected:
    void paintBody(QPainter& painter, const QRect& area, const Theme& theme) override;
    [[nodiscard]] bool isEmpty() const override { return m_model.rowCount() == 0; }
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    [[nodiscard]] QString tipAt(const QPoint& point) const override;

private:
    struct Axis {
        double top = 1; // GiB at the upper end
        bool limitOnScale = true;
    };
    [[nodiscard]] Axis axis(int plotHeight) const;
    [[nodiscard]] QRect plotArea(const QRect& body) const;
    struct LegendPlace {
        QString text;
        int x = 0, line = 0;
    };
    [[nodiscard]] std::vector<LegendPlace> legend(int width) const; // of the layers, then of the context
    void paintLegend(QPainter& painter, const QRect& area, const Theme& theme) const;
    void paintAxis(QPainter& painter, const QRect& plot, const Axis& axis, const Theme& theme) const;
    void paintStage(QPainter& painter, const QRect& plot, const Axis& axis, int stage, const Theme& theme) const;
    void paintStageText(QPainter& painter, const QRect& plot, const Axis& axis, int stage, const Theme& theme) const;
    void paintLimit(QPainter& painter, const QRect& plot, const Axis& axis, const Theme& theme) const;
    [[nodiscard]] QString describe(int stage) const;

    const StageMemoryModel& m_model;
    int m_selected = -1;
};

} // namespace fourfold::ui
