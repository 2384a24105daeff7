// SPDX-License-Identifier: GPL-3.0-or-later
// Under the live charts: what happened, the output of each rank, the measured step beside the predicted one, and, when
// the run failed, who failed first and where.
#pragma once

#include "app/models/runs/live_run.h"
#include "app/models/search/heat_grid.h"
#include "app/view/trace/trace_study.h"

#include <QTimer>
#include <QWidget>

class QComboBox;
class QLabel;
class QPlainTextEdit;
class QPushButton;
class QStackedWidget;
class QTabBar;

namespace fourfold::ui {

class DataTable;
class FailureView;
class HeatMap;
class NodeReport;
class QueuePanel;
class TimelineView;

class RunDetails : public QWidget {
    Q_OBJECT
public:
    // `live` outlives the widget.
    explicit RunDetails(LiveRun& live, QWidget* parent = nullptr);
    enum Tab { events, output, trace, nodes, sweep, queue, failure };
    void showTab(Tab tab);
    [[nodiscard]] QString traceDifference() const; // of the measured step from the predicted one
    [[nodiscard]] QString failureText() const;
    [[nodiscard]] NodeReport& nodeReport() { return *m_nodes; }
    [[nodiscard]] QueuePanel& queuePanel() { return *m_queue; }
    // The sweep as far as it is known; `next` is the cell that runs.
    void showSweep(const SweepTable& table, const std::string& next);
    [[nodiscard]] HeatMap& sweepMap() { return *m_sweepMap; }

signals:
    void raised(); // a tab has news and is on show
    void traceRequested(const fourfold::StepTrace& trace, const fourfold::view::TraceBeside& beside);

private:
    QWidget* makeEvents();
    QWidget* makeOutput();
    QWidget* makeTrace();
    QWidget* makeSweep();
    QWidget* makeFailure();
    void setTabThere(Tab tab, bool there);
    void redrawSweep();
    void showOutput();
    void showTrace();
    void showFailure();

    LiveRun& m_live;
    QTabBar* m_tabs;
    QStackedWidget* m_pages;
    DataTable* m_log;
    bool m_followLog = true; // the log shows its newest line
    QComboBox* m_rank;
    int m_wantedRank = 0; // whose output is shown
    QPlainTextEdit* m_output;
    QTimer m_outputTimer;
    TimelineView *m_predicted, *m_measured;
    QLabel* m_difference;
    QPushButton* m_openTrace;
    FailureView* m_failure;
    NodeReport* m_nodes;
    QueuePanel* m_queue;
    HeatMap* m_sweepMap;
    QComboBox* m_sweepShow;
    SweepTable m_sweep;
    std::string m_sweepNext;
};

} // namespace fourfold::ui
