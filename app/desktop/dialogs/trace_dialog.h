// SPDX-License-Identifier: GPL-3.0-or-later
// A step down to its kernels, beside the window: what a plan predicts of the streams of its stages, over it or under it
// what a profiler saw on ranks (or what the trainer, or a rehearsal, tells of the stages), and the difference by part.
#pragma once

#include "app/models/plan/plan_tabs.h"
#include "app/models/shared/background.h"
#include "app/models/shared/table_model.h"
#include "app/view/trace/trace_study.h"

#include <QDialog>
#include <QTimer>

#include <filesystem>

class QComboBox;
class QLabel;
class QLineEdit;
class QTabBar;

namespace fourfold::ui {

class DataTable;
class TimelineView;

class TraceDialog : public QDialog {
    Q_OBJECT
public:
    // `plans` outlives it. Until a trace comes, the current plan's kernels are on show.
    explicit TraceDialog(PlanTabs& plans, QWidget* parent);
    // For traces to open; none: nothing was chosen.
    static std::vector<std::filesystem::path> askFiles(QWidget* parent);
    // Reads traces and lays them beside the plan, besides those that are there: several ranks of one training. What
    // cannot be read is said.
    void openFiles(const std::vector<std::filesystem::path>& files);
    // Instead of what is there. `beside`: what was planned for it, in front of the open plans.
    void showTrace(StepTrace trace, view::TraceBeside beside);

    [[nodiscard]] TimelineView& predicted() const { return *m_predicted; }
    [[nodiscard]] TimelineView& measured() const { return *m_measured; }
    [[nodiscard]] const TableModel& table() const { return m_model; }
    [[nodiscard]] bool isBusy() const { return m_reader.isRunning() || m_studier.isRunning() || m_later.isActive(); }

private:
    QWidget* makeControls();
    QWidget* makeTables();
    void fillPlans();
    void watch(int index);
    void fillSteps();
    [[nodiscard]] view::TraceBeside chosen() const;
    void study();
    void showStudy(view::TraceStudy& study); // moves its parts away
    void showTable();
    void find(bool forward);

    PlanTabs& m_plans;
    view::Traces m_traces;
    std::optional<view::TraceBeside> m_own;
    std::vector<std::filesystem::path> m_reading; // that were asked for and have not come
    std::vector<view::TraceStudy::Rank> m_ranks; // of the study on show
    TableModel m_model;
    TimelineView *m_predicted, *m_measured;
    QComboBox *m_beside, *m_step, *m_rank;
    QLineEdit* m_find;
    QLabel *m_remarks, *m_found;
    QTabBar* m_tabs; // parts, collectives
    DataTable* m_table;
    QTimer m_later; // several changes are one study
    Background m_reader, m_studier;
};

} // namespace fourfold::ui
