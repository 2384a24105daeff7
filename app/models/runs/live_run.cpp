// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/runs/live_run.h"

#include "app/models/runs/event_fields.h"
#include "app/view/runs/live_run.h"
#include "app/view/runs/run_setup.h"
#include "core/history/run_event.h"
#include "core/layout/batch_ramp.h"
#include "core/plan/plan.h"
#include "core/predict/term_off.h"
#include "core/schedule/chrome_trace.h"
#include "runner/protocol/straggler.h"

#include <algorithm>
#include <numeric>

namespace fourfold::ui {

namespace {
constexpr std::size_t kLately = 20; // steps that tell how long the rest takes

QString exactLoss(double loss)
{
    return grouped(loss, 4);
}
} // namespace

LiveRun::LiveRun(RunController& controller, QObject* parent)
    : QObject(parent)
{
    connect(&controller, &RunController::started, this, &LiveRun::begin);
    connect(&controller, &RunController::created, this, [this, &controller](const QString& id, const QString& folder) {
        if (!m_id.isEmpty())
            begin(); // the next cell of a sweep
        m_id = id;
        m_folder = folder;
        m_log.add(view::Tone::neutral, tr("Created"), tr("Run %1 in %2").arg(id, folder));
        readPrediction(folder);
        if (controller.isFollowing())
            readPlan(folder);
        emit changed();
    });
    connect(&controller, &RunController::stateChanged, this, &LiveRun::changeState);
    connect(&controller, &RunController::staging, this, [this](double fraction, const QString& what) {
        m_log.update(view::Tone::neutral, tr("Sending"), tr("%1 % %2").arg(percent(fraction, 0), what));
    });
    connect(&controller, &RunController::linkChanged, this, &LiveRun::changeLink);
    connect(&controller, &RunController::eventsArrived, this, [this](const std::vector<Json>& events, bool more) {
        for (const Json& event : events)
            take(event);
        if (more)
            return;
        emit pointsArrived();
        emit changed();
    });
    connect(&controller, &RunController::finished, this, &LiveRun::end);
}

void LiveRun::expect(const RunExpectation& expectation, int steps, const QString& title)
{
    m_expectation = expectation;
    m_totalSteps = steps;
    m_title = title;
}

void LiveRun::begin()
{
    m_id.clear();
    m_hasRun = true;
    m_state = RunState::preflight;
    m_stateText = tr("Starting");
    m_step = 0;
    m_stepTime.reset();
    m_lately.clear();
    m_measured.reset();
    m_folder.clear();
    m_failure.reset();
    m_trouble.reset();
    m_trace.reset();
    m_predictedTrace.reset();
    m_prediction.cancel();
    for (SeriesBuffer* series : {&m_throughput, &m_loss, &m_evalLoss, &m_memory, &m_mfu})
        series->clear();
    m_rankMemory.clear();
    m_rankThroughput.clear();
    m_rankMfu.clear();
    m_hosts.clear();
    m_log.clear();
    emit pointsArrived();
    emit traceArrived();
    emit linkChanged();
    emit changed();
}

void LiveRun::changeLink(LinkState state, const QString& host)
{
    switch (state) {
    case LinkState::connected:
        m_trouble.reset();
        m_log.add(view::Tone::neutral, tr("Link"), tr("Connected to %1").arg(host));
        break;
    case LinkState::silent:
    case LinkState::reconnecting:
        if (!m_trouble)
            m_trouble = LinkTrouble{state, host, QDateTime::currentDateTime()};
        m_trouble->state = state;
        m_log.add(view::Tone::warning, tr("Link"),
            state == LinkState::silent ? tr("%1 is silent; the run goes on there").arg(host)
                                       : tr("Connecting to %1 again; nothing of the run is lost").arg(host));
        break;
    }
    emit linkChanged();
}

// What the runner stored is what the history compares with, so it wins over what was expected before.
void LiveRun::readPrediction(const QString& folder)
{
    const std::filesystem::path file = std::filesystem::path(folder.toStdString()) / "prediction.json";
    const Expected<Json> json = read_json_file(file);
    if (!json)
        return;
    if (const Expected<Prediction> prediction = prediction_from_json(*json, file.string()))
        m_expectation = {prediction->tps_per_gpu, prediction->step_time_s, prediction->memory_gib, prediction->mfu};
    emit pointsArrived();
}

// Of a run that nobody announced by expect().
void LiveRun::readPlan(const QString& folder)
{
    const std::filesystem::path file = std::filesystem::path(folder.toStdString()) / "plan.json";
    const Expected<Json> json = read_json_file(file);
    if (!json)
        return;
    if (const Expected<ResolvedPlan> plan = read_resolved(*json, file.string())) {
        m_title = fromUtf8(plan->name);
        m_totalSteps = total_steps(plan->training, plan->run);
    }
    emit pointsArrived();
}

void LiveRun::take(const Json& event)
{
    const EventKind kind = kind_of(event);
    if (kind == EventKind::step) { // there may be thousands a second
        takeStep(event);
        return;
    }
    const QDateTime time = QDateTime::fromString(words(event, "time"), Qt::ISODateWithMs);
    if (kind == EventKind::eval) {
        const std::optional<double> loss = number_at(event, "loss");
        if (!loss)
            return;
        m_evalLoss.append(number_at(event, "step").value_or(m_step), *loss);
        m_log.add(view::Tone::neutral, tr("Evaluation"), tr("Held-out loss %1").arg(exactLoss(*loss)), time);
    } else if (kind == EventKind::start) {
        takeStart(event);
        m_log.add(view::Tone::neutral, tr("Start"), tr("The trainer is up"), time);
    } else if (kind == EventKind::checkpoint) {
        m_log.add(view::Tone::neutral, tr("Checkpoint"), words(event, "path"), time);
    } else if (kind == EventKind::warning) {
        m_log.add(view::Tone::warning, tr("Warning"), words(event, "message"), time);
    } else if (kind == EventKind::error) {
        takeError(event, time);
    } else if (kind == EventKind::trace) {
        takeTrace(event);
    }
}

void LiveRun::takeError(const Json& event, const QDateTime& time)
{
    const std::optional<double> rank = number_at(event, "rank");
    const QString where = rank ? tr("Rank %1").arg(*rank) : tr("A rank");
    const QString host = words(event, "host");
    m_log.add(view::Tone::bad, tr("Error"),
        (host.isEmpty() ? where : tr("%1 on %2").arg(where, host)) + QStringLiteral(": ") + words(event, "message"),
        time);
    if (m_failure)
        return; // the first one is the cause, the others follow from it
    m_failure = failureOf(event);
}

void LiveRun::takeTrace(const Json& event)
{
    Expected<Timeline> timeline = timeline_from_chrome_trace(event, "trace event");
    if (!timeline) {
        m_log.add(view::Tone::warning, tr("Trace"), fromUtf8(timeline.error().line()));
        return;
    }
    m_trace = *std::move(timeline);
    m_traceStep = whole(event, "step").value_or(m_step);
    if (!m_predictedTrace)
        predictTrace();
    m_log.add(view::Tone::neutral, tr("Trace"), tr("Measured spans of step %1").arg(m_traceStep));
    emit traceArrived();
}

void LiveRun::predictTrace()
{
    if (m_prediction.isRunning())
        return; // another trace of the same run
    m_prediction.start([this, file = std::filesystem::path(m_folder.toStdString()) / "plan.json"](
                           const std::stop_token&) -> Background::Done {
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

void LiveRun::takeStep(const Json& event)
{
    const std::optional<int> step = whole(event, "step");
    if (!step)
        return;
    m_step = *step;
    const auto append = [&](SeriesBuffer& series, const char* key) {
        if (const std::optional<double> value = number_at(event, key))
            series.append(*step, *value);
    };
    append(m_throughput, "tps_per_gpu");
    append(m_loss, "loss");
    append(m_memory, "memory_peak_gib");
    if (const std::optional<double> mfu = number_at(event, "mfu"))
        m_mfu.append(*step, *mfu * 100);
    if (const std::optional<double> seconds = number_at(event, "step_time_s")) {
        m_stepTime = seconds;
        m_lately.push_back(*seconds);
        if (m_lately.size() > kLately)
            m_lately.pop_front();
    }
    takeRanks(event, *step);
}

std::optional<double> LiveRun::secondsLeft() const
{
    if (m_lately.empty() || m_totalSteps <= 0 || is_terminal(m_state))
        return {};
    const double one = std::accumulate(m_lately.begin(), m_lately.end(), 0.0) / double(m_lately.size());
    return one * std::max(0, m_totalSteps - m_step);
}

void LiveRun::takeStart(const Json& event)
{
    const auto hosts = event.find("hosts");
    if (hosts == event.end() || !hosts->is_array())
        return;
    for (const Json& host : *hosts) {
        if (const std::optional<int> rank = whole(host, "rank"))
            m_hosts[*rank] = words(host, "host");
    }
}

void LiveRun::takeRanks(const Json& event, double step)
{
    const auto ranks = event.find("ranks");
    if (ranks == event.end() || !ranks->is_object())
        return;
    const auto take = [&](const char* key, RankSpread& spread, auto convert) {
        const auto at = ranks->find(key);
        if (at == ranks->end() || !at->is_object())
            return;
        const std::optional<double> low = number_at(*at, "min"), middle = number_at(*at, "median"),
                                    high = number_at(*at, "max");
        if (!low || !middle || !high)
            return;
        spread.least.append(step, std::min(convert(*low), convert(*high)));
        spread.median.append(step, convert(*middle));
        spread.greatest.append(step, std::max(convert(*low), convert(*high)));
        spread.worstRank = whole(*at, "worst_rank").value_or(-1);
    };
    take("memory_peak_gib", m_rankMemory, [](double value) { return value; });
    // The job's throughput stands for the job's step time; a rank's follows from its own.
    const std::optional<double> tps = number_at(event, "tps_per_gpu"), seconds = number_at(event, "step_time_s");
    const auto atOwnPace = [&](RankSpread& spread, double whole) {
        take("step_time_s", spread, [&](double own) { return own > 0 ? whole * *seconds / own : whole; });
    };
    if (tps && seconds)
        atOwnPace(m_rankThroughput, *tps);
    if (const std::optional<double> mfu = number_at(event, "mfu"); mfu && seconds)
        atOwnPace(m_rankMfu, *mfu * 100);
}

QString LiveRun::rankName(int rank) const
{
    if (rank < 0)
        return {};
    const QString host = m_hosts.value(rank);
    return host.isEmpty() ? tr("rank %1").arg(rank) : tr("rank %1 on %2").arg(rank).arg(host);
}

void RankSpread::clear()
{
    for (SeriesBuffer* series : {&least, &median, &greatest})
        series->clear();
    worstRank = -1;
}

void LiveRun::changeState(RunState state, const QString& what)
{
    m_state = state;
    m_stateText = what;
    // A finding of the look at the nodes stands out as what it is.
    const bool warns = state == RunState::preflight && what.startsWith(QLatin1String("warning: "));
    m_log.add(warns ? view::Tone::warning : stateTone(state), stateLabel(state), what);
    emit changed();
}

void LiveRun::end(const Expected<RunResult>& outcome)
{
    const RunState before = m_state;
    if (outcome) {
        m_state = outcome->state;
        m_measured = outcome->measured_tps_per_gpu;
        m_stateText = outcome->problem ? fromUtf8(outcome->problem->line()) : QString();
        if (m_stateText.isEmpty() && m_measured)
            m_stateText = tr("after %1").arg(counted(m_step, tr("step")));
        if (!is_terminal(m_state))
            m_stateText = tr("no longer followed; it goes on");
    } else {
        m_state = outcome.error().code == ProblemCode::cancelled ? RunState::cancelled : RunState::fail;
        m_stateText = fromUtf8(outcome.error().message);
    }
    if (m_trouble) {
        m_trouble.reset();
        emit linkChanged();
    }
    const QString said = outcome ? m_stateText : fromUtf8(outcome.error().line());
    if (before == m_state && !said.isEmpty()) // said already, with less
        m_log.update(stateTone(m_state), stateLabel(m_state), said);
    else if (before != m_state)
        m_log.add(stateTone(m_state), stateLabel(m_state), said);
    emit pointsArrived();
    emit changed();
    emit ended(outcome ? fromUtf8(outcome->id) : QString());
}

QString stateLabel(RunState state)
{
    return exactText(view::state_label(state));
}

view::Tone stateTone(RunState state)
{
    return view::state_tone(state);
}

} // namespace fourfold::ui
