// SPDX-License-Identifier: GPL-3.0-or-later
// Memory per pipeline stage as stacked bars against the usable memory of the GPU.
#pragma once

#include "app/desktop/widgets/cards/card.h"
#include "app/desktop/widgets/cards/card_export.h"
#include "app/desktop/widgets/charts/memory_kinds.h"
#include "app/desktop/widgets/charts/plot.h"
#include "core/predict/prediction.h"

#include <vector>

namespace fourfold::ui {

class MemoryBars : public Card, public LinkedTable {
    Q_OBJECT
public:
    explicit MemoryBars(QWidget* parent = nullptr);
    void showMemory(const Prediction& prediction);
    [[nodiscard]] int stages() const { return static_cast<int>(m_stages.size()); }
    [[nodiscard]] int fullest() const { return m_fullest; } // -1 without stages

    // The stage marked in every picture of the page; -1 = none.
    void setSelectedStage(int stage);
    // Stage under a point of the widget, -1 outside.
    [[nodiscard]] int stageAt(const QPoint& point) const;
    [[nodiscard]] QSize minimumSizeHint() const override { return least(300, 225); }
    [[nodiscard]] Table table() const override { return m_table; }
    [[nodiscard]] int chosenRow() const override { return m_selected; }
    void chooseRow(int row) override { emit stageClicked(row); }

signals:
    void stageClicked(int stage);
    void stageActivated(int stage); // double click or Enter

protected:
    void paintBody(QPainter& painter, const QRect& area, const Theme& theme) override;
    [[nodiscard]] bool isEmpty() const override { return m_stages.empty(); }
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    [[nodiscard]] QString tipAt(const QPoint& point) const override;

private:
    [[nodiscard]] Plot plotIn(const QRect& body) const;
    [[nodiscard]] std::vector<LegendPlace> legend(int width) const; // of the kinds, then of the context
    [[nodiscard]] bool limitIsOnScale() const;
    [[nodiscard]] double fullestTotal() const; // GiB
    void paintLegend(QPainter& painter, const QRect& area, const Theme& theme) const;
    void paintStage(QPainter& painter, const Plot& plot, int stage, const Theme& theme) const;
    void paintStageText(QPainter& painter, const Plot& plot, int stage, const Theme& theme) const;
    void paintLimit(QPainter& painter, const Plot& plot, const Theme& theme) const;
    [[nodiscard]] QString describe(int stage) const;

    std::vector<StageMemory> m_stages;
    Table m_table;
    int m_fullest = -1, m_selected = -1;
    double m_usable = 0; // GiB that decide whether the plan fits
    double m_device = 0; // GiB of the fullest stage with context and communicators; 0 = unknown
    QString m_gpu;
};

} // namespace fourfold::ui
