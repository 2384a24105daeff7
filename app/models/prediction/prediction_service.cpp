// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/prediction/prediction_service.h"

#include "core/calibration/published_layouts.h"
#include "core/calibration/user/evidence.h"

#include <QElapsedTimer>
#include <QMetaObject>

#include <chrono>

namespace fourfold::ui {

namespace {
// One frame at 60 Hz with room for painting.
constexpr std::chrono::milliseconds kPatience{10};
} // namespace

PredictionService::PredictionService(QObject* parent)
    : QObject(parent)
    , m_worker([this](const std::stop_token& stop) { work(stop); })
{
}

PredictionService::~PredictionService()
{
    m_worker.request_stop();
    m_worker.join();
}

void PredictionService::request(ResolvedPlan plan)
{
    const quint64 serial = ++m_wanted;
    {
        std::unique_lock lock(m_mutex);
        m_plan = std::move(plan);
        m_planSerial = serial;
        m_changed.notify_all();
        m_changed.wait_for(lock, kPatience, [&] { return m_answer && m_answer->serial == serial; });
    }
    deliver();
}

void PredictionService::deliver()
{
    std::optional<Answer> answer;
    {
        const std::scoped_lock lock(m_mutex);
        if (m_answer && m_answer->serial == m_wanted)
            answer.swap(m_answer);
    }
    if (!answer)
        return;
    m_given = answer->serial;
    emit answered(answer->prediction, answer->milliseconds);
}

void PredictionService::work(const std::stop_token& stop)
{
    shipped_layouts(); // while the window is being made, not when its first plan waits for an answer
    std::unique_lock lock(m_mutex);
    while (m_changed.wait(lock, stop, [this] { return m_plan.has_value(); })) {
        const ResolvedPlan plan = std::move(*m_plan);
        m_plan.reset();
        const quint64 serial = m_planSerial;
        lock.unlock();

        QElapsedTimer timer;
        timer.start();
        auto prediction = std::make_shared<const Prediction>(predict_with_evidence(plan));
        const double milliseconds = static_cast<double>(timer.nsecsElapsed()) / 1e6;

        lock.lock();
        m_answer = Answer{std::move(prediction), milliseconds, serial};
        m_changed.notify_all();
        QMetaObject::invokeMethod(this, &PredictionService::deliver, Qt::QueuedConnection);
    }
}

} // namespace fourfold::ui
