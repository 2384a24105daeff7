// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/live_run.h"

#include "app/models/text.h"

#include <QCoreApplication>

namespace fourfold::ui {

namespace {
std::optional<double> number(const Json& event, const char* key)
{
    const auto found = event.find(key);
    if (found == event.end() || !found->is_number())
        return {};
    return found->get<double>();
}

QString words(const Json& event, const char* key)
{
    const auto found = event.find(key);
    return found != event.end() && found->is_string() ? fromUtf8(found->get<std::string>()) : QString();
}

QString lossText(double loss)
{
    return grouped(loss, 4);
}
} // namespace

LiveRun::LiveRun(RunController& controller, QObject* parent)
    : QObject(parent)
{
    connect(&controller, &RunController::started, this, &LiveRun::begin);
    connect(&controller, &RunController::created, this, [this](const QString& id, const QString& folder) {
        m_id = id;
        m_log.add(RunLogModel::Level::info, tr("Created"), tr("Run %1 in %2").arg(id, folder));
        readPrediction(folder);
        emit changed();
    });
    connect(&controller, &RunController::stateChanged, this, &LiveRun::changeState);
    connect(&controller, &RunController::staging, this, [this](double fraction, const QString& what) {
        m_log.update(RunLogModel::Level::info, tr("Sending"), tr("%1 % %2").arg(percent(fraction, 0), what));
    });
    connect(&controller, &RunController::linkChanged, this, [this](LinkState state, const QString& host) {
        switch (state) {
        case LinkState::connected:
            m_log.add(RunLogModel::Level::info, tr("Link"), tr("Connected to %1").arg(host));
            break;
        case LinkState::silent:
            m_log.add(RunLogModel::Level::warning, tr("Link"), tr("%1 is silent; the run goes on there").arg(host));
            break;
        case LinkState::reconnecting:
            m_log.add(RunLogModel::Level::warning, tr("Link"),
                tr("Connecting to %1 again; nothing of the run is lost").arg(host));
            break;
        }
    });
    connect(&controller, &RunController::eventsArrived, this, [this](const std::vector<Json>& events) {
        for (const Json& event : events)
            take(event);
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
    m_measured.reset();
    for (SeriesBuffer* series : {&m_throughput, &m_loss, &m_evalLoss, &m_memory})
        series->clear();
    m_log.clear();
    emit pointsArrived();
    emit changed();
}

// What the runner stored is what the history compares with, so it wins over what was expected before.
void LiveRun::readPrediction(const QString& folder)
{
    const std::filesystem::path file = std::filesystem::path(folder.toStdString()) / "prediction.json";
    const Expected<Json> json = read_json_file(file);
    if (!json)
        return;
    if (const Expected<Prediction> prediction = prediction_from_json(*json, file.string()))
        m_expectation = {prediction->tps_per_gpu, prediction->step_time_s, prediction->memory_gib};
    emit pointsArrived();
}

void LiveRun::take(const Json& event)
{
    const QString kind = words(event, "event");
    const QDateTime time = QDateTime::fromString(words(event, "time"), Qt::ISODateWithMs);
    if (kind == QLatin1String("step")) {
        takeStep(event);
    } else if (kind == QLatin1String("eval")) {
        const std::optional<double> loss = number(event, "loss");
        if (!loss)
            return;
        m_evalLoss.append(number(event, "step").value_or(m_step), *loss);
        m_log.add(RunLogModel::Level::info, tr("Evaluation"), tr("Held-out loss %1").arg(lossText(*loss)), time);
    } else if (kind == QLatin1String("start")) {
        m_log.add(RunLogModel::Level::info, tr("Start"), tr("The trainer is up"), time);
    } else if (kind == QLatin1String("checkpoint")) {
        m_log.add(RunLogModel::Level::info, tr("Checkpoint"), words(event, "path"), time);
    } else if (kind == QLatin1String("warning")) {
        m_log.add(RunLogModel::Level::warning, tr("Warning"), words(event, "message"), time);
    } else if (kind == QLatin1String("error")) {
        const std::optional<double> rank = number(event, "rank");
        const QString where = rank ? tr("Rank %1").arg(*rank) : tr("A rank");
        const QString host = words(event, "host");
        m_log.add(RunLogModel::Level::error, tr("Error"),
            (host.isEmpty() ? where : tr("%1 on %2").arg(where, host)) + QStringLiteral(": ") + words(event, "message"),
            time);
    }
}

void LiveRun::takeStep(const Json& event)
{
    const std::optional<double> step = number(event, "step");
    if (!step)
        return;
    m_step = static_cast<int>(*step);
    const auto append = [&](SeriesBuffer& series, const char* key) {
        if (const std::optional<double> value = number(event, key))
            series.append(*step, *value);
    };
    append(m_throughput, "tps_per_gpu");
    append(m_loss, "loss");
    append(m_memory, "memory_peak_gib");
    if (const std::optional<double> seconds = number(event, "step_time_s"))
        m_stepTime = seconds;
}

void LiveRun::changeState(RunState state, const QString& what)
{
    const QString name = fromUtf8(fourfold::name(state));
    m_state = state;
    m_stateText = what;
    m_log.add(stateLevel(name), stateLabel(name), what);
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
    } else {
        m_state = outcome.error().code == ProblemCode::cancelled ? RunState::cancelled : RunState::fail;
        m_stateText = fromUtf8(outcome.error().line());
    }
    const QString name = fromUtf8(fourfold::name(m_state));
    if (before != m_state || !m_stateText.isEmpty())
        m_log.add(stateLevel(name), stateLabel(name), m_stateText);
    emit pointsArrived();
    emit changed();
    emit ended(outcome ? fromUtf8(outcome->id) : QString());
}

QString stateLabel(const QString& state)
{
    struct Label {
        const char* state;
        const char* label;
    };
    static constexpr Label labels[]{{"draft", QT_TRANSLATE_NOOP("RunState", "Not started")},
        {"preflight", QT_TRANSLATE_NOOP("RunState", "Checking")},
        {"staging", QT_TRANSLATE_NOOP("RunState", "Sending files")},
        {"launching", QT_TRANSLATE_NOOP("RunState", "Starting")}, {"running", QT_TRANSLATE_NOOP("RunState", "Running")},
        {"stopping", QT_TRANSLATE_NOOP("RunState", "Stopping")}, {"ok", QT_TRANSLATE_NOOP("RunState", "Done")},
        {"oom", QT_TRANSLATE_NOOP("RunState", "Out of memory")}, {"hang", QT_TRANSLATE_NOOP("RunState", "Hung")},
        {"fail", QT_TRANSLATE_NOOP("RunState", "Failed")}, {"cancelled", QT_TRANSLATE_NOOP("RunState", "Stopped")},
        {"preempted", QT_TRANSLATE_NOOP("RunState", "Preempted")}, {"lost", QT_TRANSLATE_NOOP("RunState", "Lost")}};
    for (const Label& label : labels) {
        if (state == QLatin1String(label.state))
            return QCoreApplication::translate("RunState", label.label);
    }
    return state;
}

RunLogModel::Level stateLevel(const QString& state)
{
    if (state == QLatin1String("ok"))
        return RunLogModel::Level::good;
    for (const char* bad : {"oom", "hang", "fail", "lost"}) {
        if (state == QLatin1String(bad))
            return RunLogModel::Level::error;
    }
    return state == QLatin1String("cancelled") || state == QLatin1String("preempted") ? RunLogModel::Level::warning
                                                                                      : RunLogModel::Level::info;
}

} // namespace fourfold::ui
