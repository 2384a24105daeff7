// SPDX-License-Identifier: GPL-3.0-or-later
// The run job of app/view with signals: what the run says is collected and handed over in batches at most ten times a
// second, in order, and a large batch in slices of a few milliseconds, so that neither a fast run nor a long one that
// is caught up with keeps the window from answering.
#pragma once

#include "app/view/runs/run_job.h"

#include <QObject>
#include <QTimer>

namespace fourfold::ui {

class RunController : public QObject {
    Q_OBJECT
public:
    explicit RunController(QObject* parent = nullptr); // its end is RunJob's

    using Work = view::RunJob::Work;
    [[nodiscard]] bool isRunning() const { return m_job.is_running(); }
    [[nodiscard]] bool isStopping() const { return m_job.is_stopping(); }
    [[nodiscard]] Work work() const { return m_job.work(); } // of the last start
    [[nodiscard]] bool isFollowing() const { return m_job.is_following(); }
    // As RunJob has them. Precondition of the four: !isRunning().
    void start(RunRequest request);
    void follow(const QString& runId, const std::filesystem::path& historyFile, bool allEvents = false);
    void check(Target target, bool speeds = false);
    void sweep(SweepRequest request);
    void stop();
    void detach() { m_job.detach(); }
    void leaveBehind();
    // The answers to hostKeyAsked() and secretAsked(); the run waits for them. Nothing declines.
    void answerHostKey(bool trusted) { m_job.answer_host_key(trusted); }
    void answerSecret(const std::optional<std::string>& secret) { m_job.answer_secret(secret); }

signals:
    void started(); // a run, not a look at the nodes
    void workChanged(); // isRunning() or work()
    // Every message but events, before the signals below tell of some of them.
    void said(const fourfold::view::RunMessage& message);
    // `more`: the rest of the batch follows in a moment.
    void eventsArrived(const std::vector<fourfold::Json>& events, bool more = false);
    void hostKeyAsked(const fourfold::HostKeyQuestion& question);
    void secretAsked(const fourfold::SecretQuestion& question);
    // What the nodes are like, or the Problem that kept them from being looked at; the last signal of check().
    void checked(const fourfold::Expected<fourfold::ProbeReport>& report);
    // A cell of a sweep is known, or begins: `next` is its SweepCell::name(), empty behind the last.
    void sweepMoved(const fourfold::SweepTable& table, const std::string& next);
    // The last signal of sweep().
    void sweepEnded(const fourfold::Expected<fourfold::SweepTable>& outcome);
    // The last signal of a run. Either a result (see RunResult) or the Problem that kept it from starting.
    void finished(const fourfold::Expected<fourfold::RunResult>& outcome);

private:
    void begun();
    void drain();
    void handOver(std::vector<Json>& events, bool more);
    void deliver(const view::RunMessage& message);

    view::RunJob m_job;
    QTimer m_timer;
    std::size_t m_left = 0; // messages of the batch that is being handed over
    bool m_owesEnd = false; // of it: more was promised
};

} // namespace fourfold::ui
