// SPDX-License-Identifier: GPL-3.0-or-later
// Runs mode: the assistant at the left; state, live charts and log of the run in the middle.
#pragma once

#include "app/desktop/pages/page.h"
#include "app/models/plan/plan_document.h"
#include "app/models/runs/live_run.h"
#include "app/view/cluster/node_cluster.h"
#include "app/view/trace/trace_study.h"

#include <QPointer>

#include <array>
#include <filesystem>

namespace fourfold::ui {

class Banner;
class FigureCard;
class FigureStrip;
class LineChart;
class RehearsalDialog;
class RunDetails;
class RunForm;

class RunsPage : public Page {
    Q_OBJECT
public:
    explicit RunsPage(const PageContext& context);
    void setDocument(PlanDocument& document); // the plan that the assistant runs; lives until the next call
    [[nodiscard]] RunForm& form() { return *m_form; }
    [[nodiscard]] LineChart& throughputChart() { return *m_throughput; }
    [[nodiscard]] LineChart& mfuChart() { return *m_mfu; }
    [[nodiscard]] LineChart& expertsChart() { return *m_experts; }
    [[nodiscard]] const std::array<FigureCard*, 5>& figures() const;
    [[nodiscard]] RunDetails& details() { return *m_details; }
    // From a name to a target, its cluster and the plan's hardware, in a dialog.
    void findCluster();
    // Catches up with a run of the history that goes on by itself; one that is followed is left for it.
    void follow(const QString& runId);

signals:
    void runsChanged(); // the history has more runs
    // The step of a run or a rehearsal beside the planned one.
    void traceRequested(const fourfold::StepTrace& trace, const fourfold::view::TraceBeside& beside);
    void clusterSaved(const QString& id, const QString& file); // a preset of the nodes that were looked at

private:
    QWidget* makeLive();
    void start(const view::RunSetup& setup, const QString& title);
    void showLink();
    void offerAllEvents(const QString& runId);
    void showFigures();
    void showPoints();
    void ask(const HostKeyQuestion& question);
    void begin(RunRequest request);
    void enqueue(const view::RunSetup& setup);
    void restart();
    void rehearse(const ResolvedPlan& plan);
    void check(const Target& target, const QString& name);
    void checked(const Expected<ProbeReport>& report);
    void saveNodes();
    void sweep(const view::RunSetup& setup);
    void sweepEnded(const Expected<SweepTable>& outcome);

    const Presets& m_presets;
    RunController& m_controller;
    LiveRun& m_live;
    std::filesystem::path m_trainer, m_history;
    RunForm* m_form;
    Banner* m_banner;
    FigureStrip* m_figures;
    LineChart *m_throughput, *m_loss, *m_memory, *m_mfu;
    LineChart* m_experts; // there where the model has any
    RunDetails* m_details;
    QPointer<RehearsalDialog> m_rehearsal; // on show
    std::optional<RunRequest> m_last; // of start(): what a restart does again
    bool m_restarting = false;
    QString m_next; // the run to be followed when the one that is followed has been left
    std::optional<Target> m_checked; // the target of the last look at nodes
    QString m_checkedName;
    std::optional<view::ClusterWish> m_wish; // what the look under way is for
};

} // namespace fourfold::ui
