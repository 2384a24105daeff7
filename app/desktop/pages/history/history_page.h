// SPDX-License-Identifier: GPL-3.0-or-later
// History mode: every stored run with predicted beside measured; under the table the selected one in detail, or all
// selected ones laid over each other.
#pragma once

#include "app/desktop/pages/page.h"
#include "app/models/history/history_model.h"
#include "app/models/shared/background.h"
#include "app/view/history/history_edits.h"
#include "app/view/trace/trace_study.h"
#include "core/plan/presets.h"
#include "core/report/table/table.h"

#include <QTimer>
#include <QUndoStack>

#include <filesystem>

class QLabel;
class QMenu;
class QPushButton;
class QStackedWidget;
class QTabBar;

namespace fourfold {
struct Plan;
}

namespace fourfold::ui {

class DataTable;
class ExpressionEdit;
class FilterBar;
class HistoryDetail;
class HistoryImport;
class RunCurvesView;

class HistoryPage : public Page {
    Q_OBJECT
public:
    explicit HistoryPage(const PageContext& context);
    [[nodiscard]] QVariantMap state() const override;
    void restore(const QVariantMap& state) override;
    // Reads the history again. `select`: the run to show, by id; empty keeps the selection.
    void refresh(const QString& select = {});
    // Shows this run, if any: now, or when the page is looked at next (a long run takes a while to read).
    void showNext(const QString& run);
    [[nodiscard]] const HistoryModel& model() const { return m_model; }
    // Adds a run's folder or an exported run; false: it cannot, and said so. A run that is there already is shown.
    bool importRun(const std::filesystem::path& path);
    // Takes the rows of a measured table as runs; false: it cannot, and said so.
    bool importTable(const std::filesystem::path& csv);
    // The same beside the window, for each row is predicted; message() follows.
    void readTable(const std::filesystem::path& csv);
    // Shows the runs of TensorBoard or Weights & Biases in a file or folder as curves; false: there is none, and said
    // so.
    bool openTracker(const std::filesystem::path& path);
    void deleteChosen();
    void recalibrate();
    bool focusFilter() override;
    [[nodiscard]] QUndoStack& undoStack() { return m_undo; } // deleting, tags, notes
    [[nodiscard]] QUndoStack* ownUndo() override { return &m_undo; }
    [[nodiscard]] HistoryDetail& detail() { return *m_detail; }
    [[nodiscard]] RunCurvesView& curves() { return *m_curves; }
    enum class View { run, curves };
    void showView(View view);

signals:
    void compareRequested(const QStringList& runs); // their ids
    // The run's plan, as it is or from its newest checkpoint, to be looked at or (`runs`) run where it ran.
    void planRequested(const fourfold::Plan& plan, const QString& target, bool runs);
    // The traced step of a run beside the planned one.
    void traceRequested(const fourfold::StepTrace& trace, const fourfold::view::TraceBeside& beside);
    void calibrationSaved(const QString& stack, const QString& file); // a new preset

protected:
    void showEvent(QShowEvent* event) override;

private:
    QWidget* makeTable();
    QWidget* makeViews();
    void showChosenCurves();
    void fillRowMenu(QMenu& menu);
    void offerPlan(bool runs, bool fromCheckpoint);
    void offerTrace();
    void derivePrediction();
    QPushButton* makeExports();
    void showSelected();
    void showRun(const Expected<RunDetail>& run);
    void applyFilter();
    void choose(int row);
    void selectRuns(const QStringList& ids);
    void showCounts();
    void compareTraces();
    void compareSelected();
    void push(view::HistoryStep step, const QStringList& runs);
    [[nodiscard]] QStringList chosen() const; // ids

    std::filesystem::path m_file;
    HistoryModel m_model;
    const Presets& m_presets;
    QUndoStack m_undo;
    QString m_selected;
    DataTable* m_table;
    ExpressionEdit* m_filter;
    FilterBar* m_filterBar = nullptr;
    QString m_problem; // of the last reading
    QLabel* m_emptyText;
    QPushButton* m_emptyButton;
    QLabel* m_count;
    QPushButton *m_compare, *m_delete, *m_recalibrate;
    HistoryDetail* m_detail;
    RunCurvesView* m_curves;
    QTimer m_chosenLater; // one reading of the history goes by several selections
    QTabBar* m_views;
    QStackedWidget* m_pages;
    bool m_canResume = false; // the run on show told of a checkpoint
    Background m_traces, m_reader;
    HistoryImport* m_import = nullptr;
};

} // namespace fourfold::ui
