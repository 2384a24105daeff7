// SPDX-License-Identifier: GPL-3.0-or-later
// The charts of a comparison: memory, throughput, MFU, step time, scaling over GPUs.
#pragma once

#include "app/desktop/widgets/charts/comparison_chart.h"
#include "app/models/compare/compare_entry.h"
#include "app/view/compare/scaling.h"
#include "core/plan/presets.h"

#include <QWidget>

#include <thread>
#include <vector>

namespace fourfold::ui {

class CardStack;

CurveSeries curveOf(const view::ScalingSeries& series);

class CompareCharts : public QWidget {
    Q_OBJECT
public:
    // `presets` outlives the widget.
    explicit CompareCharts(const Presets& presets, QWidget* parent = nullptr);
    ~CompareCharts() override;
    void show(const std::vector<CompareEntry>& entries);
    using QWidget::show;
    // Measured series of the scaling chart.
    void setPublished(const std::vector<CurveSeries>& series);
    void showScaling();
    [[nodiscard]] ComparisonChart& memory() { return *m_memory; }
    [[nodiscard]] ComparisonChart& throughput() { return *m_throughput; }
    [[nodiscard]] ComparisonChart& utilisation() { return *m_utilisation; }
    [[nodiscard]] ComparisonChart& time() { return *m_time; }
    [[nodiscard]] ComparisonChart& scaling() { return *m_scaling; }

signals:
    void scalingReady();

private:
    void showBars();
    void startScaling();

    const Presets& m_presets;
    std::vector<CompareEntry> m_entries;
    std::vector<CurveSeries> m_published;
    ComparisonChart *m_memory, *m_throughput, *m_utilisation, *m_time, *m_scaling;
    CardStack *m_left, *m_right;
    quint64 m_serial = 0; // of the comparison that the scaling belongs to
    std::jthread m_scalingThread;
};

} // namespace fourfold::ui
