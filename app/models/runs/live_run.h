// SPDX-License-Identifier: GPL-3.0-or-later
// The live run of app/view as the Runs page shows it: fed by a RunController, with signals, its log as an item model.
#pragma once

#include "app/models/runs/run_controller.h"
#include "app/models/runs/run_log_model.h"
#include "app/models/shared/background.h"
#include "app/models/shared/text.h"
#include "app/view/runs/live_run.h"

#include <QList>
#include <QPointF>

namespace fourfold::ui {

QList<QPointF> pointsOf(const view::Series& series);

class LiveRun : public QObject {
    Q_OBJECT
public:
    // Follows `controller`, which outlives this.
    explicit LiveRun(RunController& controller, QObject* parent = nullptr);

    // Before start(): what the run is about to do.
    void expect(const view::RunExpectation& expectation, int steps, const QString& title);

    [[nodiscard]] const view::LiveRun& run() const { return m_run; }
    [[nodiscard]] QString id() const { return exactText(m_run.id()); }
    [[nodiscard]] RunLogModel& log() { return m_log; }
    // The step of run().trace() as predicted; it comes a moment later.
    [[nodiscard]] const std::optional<Timeline>& predictedTrace() const { return m_predictedTrace; }

signals:
    void changed(); // figures or state; at most ten times a second
    void pointsArrived(); // the charts have something new
    void traceArrived();
    void linkChanged(); // run().link_trouble()
    void alerted(const fourfold::view::RunAlert& alert); // by the run's own watch, just now or long ago
    void ended(const QString& runId); // the run is over and in the history; empty id: none was started

private:
    void tellOfBegin();
    void take(const view::RunMessage& message);
    void takeEvents(const std::vector<Json>& events, bool more);
    void predictTrace();

    view::RunExpectation m_expectation;
    int m_steps = 0;
    std::string m_title;
    view::LiveRun m_run;
    std::optional<Timeline> m_predictedTrace;
    RunLogModel m_log;
    Background m_prediction; // of the traced step: the plan is read, resolved and simulated
};

} // namespace fourfold::ui
