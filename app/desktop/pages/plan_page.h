// SPDX-License-Identifier: GPL-3.0-or-later
// Plan mode: inputs at the left, the answer in the middle: five figures, memory and time, the timeline.
#pragma once

#include "app/models/plan_document.h"
#include "app/models/stage_memory_model.h"
#include "app/models/time_parts_model.h"

#include <QTimer>
#include <QWidget>

#include <array>

namespace fourfold::ui {

class ConfigPanel;
class FigureCard;
class MemoryBars;
class StepSplit;
class TimelineView;

class PlanPage : public QWidget {
    Q_OBJECT
public:
    // `document` outlives the page.
    explicit PlanPage(PlanDocument& document, QWidget* parent = nullptr);
    [[nodiscard]] const std::array<FigureCard*, 5>& figures() const { return m_figures; }

signals:
    void importRequested();

private:
    QWidget* makeAnswer();
    void showAnswer();
    void showStale();
    void selectStage(int stage);

    PlanDocument& m_document;
    StageMemoryModel m_memory;
    TimePartsModel m_parts;
    ConfigPanel* m_config;
    std::array<FigureCard*, 5> m_figures{};
    MemoryBars* m_bars;
    StepSplit* m_split;
    TimelineView* m_timeline;
    const Prediction* m_shown = nullptr; // identity only
    QTimer m_slow; // the answer is late: what is on show belongs to the plan before
};

} // namespace fourfold::ui
