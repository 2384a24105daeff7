// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/runs/run_controller.h"

#include <QElapsedTimer>

#include <utility>

namespace fourfold::ui {

namespace {
constexpr int kBatchMilliseconds = 100;
constexpr qint64 kSliceMilliseconds = 4;
constexpr std::size_t kChunk = 100; // events between looks at the clock
} // namespace

RunController::RunController(QObject* parent)
    : QObject(parent)
    , m_job([] {}) // the timer looks for messages
{
    m_timer.setInterval(kBatchMilliseconds);
    connect(&m_timer, &QTimer::timeout, this, &RunController::drain);
}

void RunController::start(RunRequest request)
{
    m_job.start(std::move(request));
    begun();
}

void RunController::follow(const QString& runId, const std::filesystem::path& historyFile, bool allEvents)
{
    m_job.follow(runId.toStdString(), historyFile, allEvents);
    begun();
}

void RunController::check(Target target, bool speeds)
{
    m_job.check(std::move(target), speeds);
    begun();
}

void RunController::sweep(SweepRequest request)
{
    m_job.sweep(std::move(request));
    begun();
}

void RunController::begun()
{
    m_left = 0;
    m_owesEnd = false;
    m_timer.start();
    if (work() != Work::check)
        emit started();
    emit workChanged();
}

void RunController::stop()
{
    if (!isRunning() || isStopping())
        return;
    m_job.stop();
    emit workChanged();
}

void RunController::leaveBehind()
{
    m_timer.stop();
    m_job.leave_behind();
}

void RunController::drain()
{
    if (m_left == 0)
        m_left = m_job.waiting();
    QElapsedTimer slice;
    slice.start();
    std::vector<Json> events;
    while (m_left > 0) {
        // A question's dialog has an event loop of its own, in which this goes on with what is behind it.
        std::vector<view::RunMessage> next = m_job.take(1);
        m_left = next.empty() ? 0 : m_left - 1;
        if (next.empty())
            break;
        view::RunMessage& message = next.front();
        if (auto* event = std::get_if<Json>(&message)) {
            events.push_back(std::move(*event));
            if (events.size() < kChunk || m_left == 0)
                continue;
            handOver(events, true);
            if (slice.elapsed() >= kSliceMilliseconds) {
                QTimer::singleShot(0, this, &RunController::drain);
                return;
            }
            continue;
        }
        handOver(events, false);
        const bool isLast = !isRunning();
        if (isLast) {
            m_timer.stop();
            m_left = 0;
        }
        deliver(message);
        if (isLast) {
            emit workChanged();
            return;
        }
    }
    handOver(events, false);
}

void RunController::handOver(std::vector<Json>& events, bool more)
{
    if (events.empty() && (more || !m_owesEnd))
        return;
    m_owesEnd = more;
    emit eventsArrived(std::exchange(events, {}), more);
}

void RunController::deliver(const view::RunMessage& message)
{
    emit said(message);
    if (const auto* hostKey = std::get_if<HostKeyQuestion>(&message))
        emit hostKeyAsked(*hostKey);
    else if (const auto* secret = std::get_if<SecretQuestion>(&message))
        emit secretAsked(*secret);
    else if (const auto* nodes = std::get_if<view::NodesChecked>(&message))
        emit checked(nodes->report);
    else if (const auto* moved = std::get_if<view::SweepMoved>(&message))
        emit sweepMoved(moved->table, moved->next);
    else if (const auto* sweep = std::get_if<view::SweepEnded>(&message))
        emit sweepEnded(sweep->outcome);
    else if (const auto* end = std::get_if<view::RunEnded>(&message))
        emit finished(end->outcome);
}

} // namespace fourfold::ui
