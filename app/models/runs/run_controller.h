// SPDX-License-Identifier: GPL-3.0-or-later
// One run, look at the nodes or measured sweep at a time on its own thread: the work there, signals here. What the run
// says is collected and handed over in batches at most ten times a second, in order, and a large batch in slices of a
// few milliseconds, so that neither a fast run nor a long one that is caught up with keeps the window from answering.
#pragma once

#include "runner/preflight/probe.h"
#include "runner/runs/run.h"
#include "runner/sweep/measured_sweep.h"

#include <QObject>
#include <QTimer>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

namespace fourfold::ui {

class RunController : public QObject {
    Q_OBJECT
public:
    explicit RunController(QObject* parent = nullptr);
    // Stops a run that was started here and waits until nothing of it is left; one that is followed goes on.
    ~RunController() override;

    [[nodiscard]] bool isRunning() const { return m_thread.joinable(); }
    [[nodiscard]] bool isStopping() const { return m_stopping; }
    // Precondition: !isRunning().
    void start(RunRequest request);
    // Catches up with a run of the history and follows it; its events come from the first one on. With
    // `allEvents` also those that the target's events_gib left on the nodes. Precondition: !isRunning().
    void follow(const QString& runId, const std::filesystem::path& historyFile, bool allEvents = false);
    // Connects to every host of the target and looks at it, without running anything; with `speeds` it also measures
    // cores, memory and links. Precondition: !isRunning().
    void check(Target target, const std::filesystem::path& agent, bool speeds = false);
    // Runs every cell that is not measured yet, as runs of their own. Precondition: !isRunning().
    void sweep(SweepRequest request);
    enum class Work { run, follow, check, sweep };
    [[nodiscard]] Work work() const { return m_work; } // of the last start
    [[nodiscard]] bool isFollowing() const { return m_work == Work::follow; }
    // Ends what is under way: a run on all of its nodes, whoever started it.
    void stop();
    // Stops following a run, which goes on. Nothing where none is followed.
    void detach();
    // The program is about to end and the run is to go on on its nodes, whose agents own it. The thread that follows it
    // is let go; the program must then end without running down its statics (std::_Exit).
    void leaveBehind();
    // The answers to hostKeyAsked() and secretAsked(); the run waits for them. Nothing declines.
    void answerHostKey(bool trusted);
    void answerSecret(const std::optional<std::string>& secret);

signals:
    void started(); // a run, not a look at the nodes
    void workChanged(); // isRunning() or work()
    void created(const QString& runId, const QString& folder);
    void stateChanged(fourfold::RunState state, const QString& what);
    void staging(double fraction, const QString& what);
    void linkChanged(fourfold::LinkState state, const QString& host);
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
    class Mailbox;
    struct Message;
    void drain();
    void begin(Work work, std::function<Message(Mailbox&, std::stop_token)> job);
    template <typename Outcome>
    static Message lastOf(void (RunController::*signal)(const Outcome&), Outcome outcome);
    void deliver(const Message& message);

    std::shared_ptr<Mailbox> m_mailbox;
    std::jthread m_thread;
    QTimer m_timer;
    bool m_stopping = false;
    std::shared_ptr<std::atomic<bool>> m_endFollowed; // the followed run is to be stopped, not only left
    Work m_work = Work::run;
};

} // namespace fourfold::ui
