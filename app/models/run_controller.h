// SPDX-License-Identifier: GPL-3.0-or-later
// One run at a time on its own thread: launch() there, signals here. What the run says is collected and handed over in
// batches at most ten times a second, in order, so that a fast run cannot flood the window.
#pragma once

#include "runner/runs/run.h"

#include <QObject>
#include <QTimer>

#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

namespace fourfold::ui {

class RunController : public QObject {
    Q_OBJECT
public:
    explicit RunController(QObject* parent = nullptr);
    // Stops a run that is under way and waits until nothing of it is left.
    ~RunController() override;

    [[nodiscard]] bool isRunning() const { return m_thread.joinable(); }
    [[nodiscard]] bool isStopping() const { return m_stopping; }
    // Precondition: !isRunning().
    void start(RunRequest request);
    // Catches up with a run of the history and follows it; stop() then stops following, not the run.
    // Precondition: !isRunning().
    void follow(const QString& runId, const std::filesystem::path& historyFile);
    [[nodiscard]] bool isFollowing() const { return m_following; }
    void stop();
    // The program is about to end and the run is to go on on its nodes, whose agents own it. The thread that follows it
    // is let go; the program must then end without running down its statics (std::_Exit).
    void leaveBehind();
    // The answer to hostKeyAsked(); the run waits for it.
    void answerHostKey(bool trusted);

signals:
    void started();
    void created(const QString& runId, const QString& folder);
    void stateChanged(fourfold::RunState state, const QString& what);
    void staging(double fraction, const QString& what);
    void linkChanged(fourfold::LinkState state, const QString& host);
    void eventsArrived(const std::vector<fourfold::Json>& events);
    void hostKeyAsked(const fourfold::HostKeyQuestion& question);
    // The last signal of a run. Either a result (see RunResult) or the Problem that kept it from starting.
    void finished(const fourfold::Expected<fourfold::RunResult>& outcome);

private:
    class Mailbox;
    void drain();
    void run(std::function<Expected<RunResult>(RunObserver&, std::stop_token)> work);

    std::shared_ptr<Mailbox> m_mailbox;
    std::jthread m_thread;
    QTimer m_timer;
    bool m_stopping = false, m_following = false;
};

} // namespace fourfold::ui
