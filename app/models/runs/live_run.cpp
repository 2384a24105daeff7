// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/runs/live_run.h"

#include "core/history/run_event.h"
#include "core/predict/term_off.h"

namespace fourfold::ui {

QList<QPointF> pointsOf(const view::Series& series)
{
    QList<QPointF> points;
    for (const auto& [x, y] : series.points())
        points << QPointF(x, y);
    return points;
}

LiveRun::LiveRun(RunController& controller, QObject* parent)
    : QObject(parent)
{
    connect(&controller, &RunController::started, this, [this, &controller] {
        if (controller.isFollowing())
            m_run.begin({}, 0, {});
        else
            m_run.begin(m_title, m_steps, m_expectation);
        tellOfBegin();
    });
    connect(&controller, &RunController::said, this, &LiveRun::take);
    connect(&controller, &RunController::eventsArrived, this, &LiveRun::takeEvents);
}

void LiveRun::expect(const view::RunExpectation& expectation, int steps, const QString& title)
{
    m_expectation = expectation;
    m_steps = steps;
    m_title = title.toStdString();
}

void LiveRun::tellOfBegin()
{
    m_prediction.cancel();
    m_predictedTrace.reset();
    m_log.follow(m_run.log(), m_run.log_count());
    emit pointsArrived();
    emit traceArrived();
    emit linkChanged();
    emit changed();
}

void LiveRun::take(const view::RunMessage& message)
{
    const bool another = std::holds_alternative<view::RunCreated>(message) && !m_run.id().empty();
    const std::string trouble = m_run.link_trouble();
    m_run.take(message);
    if (another)
        tellOfBegin(); // the next cell of a sweep
    m_log.follow(m_run.log(), m_run.log_count());
    if (m_run.link_trouble() != trouble)
        emit linkChanged();
    const auto* end = std::get_if<view::RunEnded>(&message);
    if (end || std::holds_alternative<view::RunCreated>(message))
        emit pointsArrived(); // with another prediction, or the last of them
    emit changed();
    if (end)
        emit ended(end->outcome ? exactText(end->outcome->id) : QString());
}

void LiveRun::takeEvents(const std::vector<Json>& events, bool more)
{
    for (const Json& event : events) {
        const std::size_t alerts = m_run.alert_count();
        m_run.take(event);
        if (m_run.alert_count() > alerts)
            emit alerted(m_run.alerts().back());
        if (kind_of(event) != EventKind::trace || !m_run.trace())
            continue;
        if (!m_predictedTrace)
            predictTrace();
        emit traceArrived();
    }
    m_log.follow(m_run.log(), m_run.log_count());
    if (more)
        return;
    emit pointsArrived();
    emit changed();
}

void LiveRun::predictTrace()
{
    if (m_prediction.isRunning())
        return; // another trace of the same run
    m_prediction.start([this, file = m_run.folder() / "plan.json"](const std::stop_token&) -> Background::Done {
        const Expected<Json> plan = read_json_file(file);
        Expected<Timeline> step = plan ? predicted_step(*plan) : Expected<Timeline>(plan.error());
        if (!step)
            return {};
        return [this, step = *std::move(step)] {
            m_predictedTrace = step;
            emit traceArrived();
        };
    });
}

} // namespace fourfold::ui
