// SPDX-License-Identifier: GPL-3.0-or-later
// Under the live charts: what happened, the output of each rank, the measured step beside the predicted one, and, when
// the run failed, who failed first and where.
#pragma once

#include "app/models/live_run.h"

#include <QTimer>
#include <QWidget>

class QComboBox;
class QLabel;
class QPlainTextEdit;
class QStackedWidget;
class QTabBar;

namespace fourfold::ui {

class DataTable;
class TimelineView;

class RunDetails : public QWidget {
    Q_OBJECT
public:
    // `live` outlives the widget.
    explicit RunDetails(LiveRun& live, QWidget* parent = nullptr);
    enum Tab { events, output, trace, failure };
    void showTab(Tab tab);
    [[nodiscard]] TimelineView& measuredTimeline() { return *m_measured; }
    [[nodiscard]] QString failureText() const;

private:
    QWidget* makeEvents();
    QWidget* makeOutput();
    QWidget* makeTrace();
    QWidget* makeFailure();
    void showOutput();
    void showTrace();
    void showFailure();

    LiveRun& m_live;
    QTabBar* m_tabs;
    QStackedWidget* m_pages;
    DataTable* m_log;
    bool m_followLog = true; // the log shows its newest line
    QComboBox* m_rank;
    QPlainTextEdit *m_output, *m_failureLog;
    QTimer m_outputTimer;
    TimelineView *m_predicted, *m_measured;
    QLabel* m_failureFacts;
};

} // namespace fourfold::ui
