// SPDX-License-Identifier: GPL-3.0-or-later
// Plan mode: inputs at the left, the answer in the middle: five figures, memory and time, the timeline.
#pragma once

#include "app/desktop/dialogs/report_export.h"
#include "app/models/plan/plan_document.h"
#include "app/models/search/advice_finder.h"
#include "core/predict/explain.h"

#include <QTimer>
#include <QVariantMap>
#include <QWidget>

#include <array>

namespace fourfold::ui {

class AdviceBar;
class AdviceView;
class BoundsView;
class CardStack;
class ConfigPanel;
class FigureStrip;
class FigureCard;
class MemoryBars;
class MemoryOverTime;
class RankMeshView;
class ScrollColumn;
class StepSplit;
class TimelineView;
class TrainingView;
class WarningBar;

class PlanPage : public QWidget {
    Q_OBJECT
public:
    // `document` outlives the page.
    explicit PlanPage(PlanDocument& document, QWidget* parent = nullptr);
    [[nodiscard]] const std::array<FigureCard*, 5>& figures() const;

    // One page about the plan on show; no parts while it has no answer.
    [[nodiscard]] ReportPage report() const;
    [[nodiscard]] AdviceFinder& advice() { return m_advice; }
    [[nodiscard]] TimelineView& timeline() const { return *m_timeline; }
    // For the session: TimelineView::place(), taken up once the plan has its answer.
    [[nodiscard]] QVariantMap place() const;
    void setPlace(const QVariantMap& place);

signals:
    void importRequested();

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void connectDerivations();
    QWidget* makeAnswer();
    void showAnswer();
    void showStale();
    void showMesh();
    void showCurve();
    void showBounds();
    void derive(const QString& title, const char* figure, const QStringList& path = {});
    void selectStage(int stage);
    void takePlace();

    PlanDocument& m_document;
    AdviceFinder m_advice;
    ConfigPanel* m_config;
    FigureStrip* m_figures;
    MemoryBars* m_bars;
    MemoryOverTime* m_overTime;
    StepSplit* m_split;
    TimelineView* m_timeline;
    RankMeshView* m_mesh;
    BoundsView* m_bounds;
    WarningBar* m_warnings;
    AdviceBar* m_adviceBar;
    AdviceView* m_adviceView;
    TrainingView* m_training;
    CardStack *m_memoryCards = nullptr, *m_whenCards = nullptr;
    ScrollColumn* m_answer = nullptr;
    int m_stage = -1; // marked in every picture; -1 = none
    const Prediction* m_shown = nullptr; // identity only
    QVariantMap m_place; // of the last session, until there is an answer
    QTimer m_slow; // the answer is late: what is on show belongs to the plan before
};

} // namespace fourfold::ui
