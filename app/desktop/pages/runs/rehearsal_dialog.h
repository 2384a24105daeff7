// SPDX-License-Identifier: GPL-3.0-or-later
// A rehearsal of a plan beside the window: how far it is, then what it proved or who is to blame.
#pragma once

#include "app/models/shared/table_model.h"
#include "app/view/rehearsal/rehearsal_job.h"
#include "app/view/trace/trace_study.h"

#include <QDialog>

class QLabel;
class QProgressBar;
class QPushButton;

namespace fourfold::ui {

class DataTable;
class TimelineView;

class RehearsalDialog : public QDialog {
    Q_OBJECT
public:
    // Begins at once. `trainer`: empty: beside this program.
    RehearsalDialog(const ResolvedPlan& plan, const std::filesystem::path& trainer, QWidget* parent);
    [[nodiscard]] const view::RehearsalJob& job() const { return m_job; }

signals:
    void traceRequested(const fourfold::StepTrace& trace, const fourfold::view::TraceBeside& beside);

protected:
    void reject() override; // stops it; once it has ended, closes

private:
    void take();

    view::RehearsalJob m_job;
    TableModel m_stages;
    QLabel *m_headline, *m_words;
    QProgressBar* m_progress;
    DataTable* m_table;
    TimelineView *m_planned, *m_rehearsed;
    QWidget* m_timelines; // both, once there are two
    QPushButton *m_copy, *m_open, *m_stop;
};

} // namespace fourfold::ui
