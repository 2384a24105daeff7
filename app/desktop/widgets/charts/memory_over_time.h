// SPDX-License-Identifier: GPL-3.0-or-later
// Memory of one pipeline stage over the step, stacked by what it holds, against the usable memory of the GPU.
#pragma once

#include "app/desktop/widgets/cards/card.h"
#include "app/desktop/widgets/charts/plot.h"
#include "core/predict/memory_curve.h"

#include <optional>

namespace fourfold::ui {

class MemoryOverTime : public Card {
    Q_OBJECT
public:
    explicit MemoryOverTime(QWidget* parent = nullptr);
    // `usable_gib` of the GPU, 0 = unknown; `length_s` of the step.
    void showCurve(MemoryCurve curve, double usable_gib, double length_s);
    [[nodiscard]] const MemoryCurve& curve() const { return m_curve; }
    // The time that is read off; empty = none.
    void setCursor(std::optional<double> seconds);
    [[nodiscard]] QSize minimumSizeHint() const override { return least(300, 225); }
    [[nodiscard]] Table table() const override;

signals:
    void stageStepped(int by); // up and down keys: another stage, please
    void stageActivated(int stage); // Enter or a double click: its derivation

protected:
    void paintBody(QPainter& painter, const QRect& area, const Theme& theme) override;
    [[nodiscard]] bool isEmpty() const override { return m_curve.points.empty() || m_length <= 0; }
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    [[nodiscard]] Plot plotIn(const QRect& area) const;
    void paintLegend(QPainter& painter, const QRect& area, const Theme& theme) const;
    void paintStack(QPainter& painter, const Plot& plot, const Theme& theme) const;
    void paintLines(QPainter& painter, const Plot& plot, const Theme& theme) const;
    void paintCursor(QPainter& painter, const Plot& plot, const Theme& theme) const;
    void stepCursor(int step);

    MemoryCurve m_curve;
    double m_usable = 0, m_length = 0;
    std::optional<double> m_cursor;
};

} // namespace fourfold::ui
