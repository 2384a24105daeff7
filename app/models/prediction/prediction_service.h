// SPDX-License-Identifier: GPL-3.0-or-later
// predict() on its own thread, newest request first. An answer that is ready within a frame arrives before request()
// returns, so that a spin box never shows a figure of the edit before; a slower one arrives later by the same signal.
#pragma once

#include "core/predict/prediction.h"

#include <QObject>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace fourfold::ui {

class PredictionService : public QObject {
    Q_OBJECT
public:
    explicit PredictionService(QObject* parent = nullptr);
    ~PredictionService() override;

    // Asks for the prediction of `plan`; drops a request that has not begun. Call on the owner's thread.
    void request(ResolvedPlan plan);
    // True from request() until its answer was given.
    [[nodiscard]] bool isBusy() const { return m_wanted != m_given; }

signals:
    // Always on the owner's thread, and only for the newest request.
    void answered(const std::shared_ptr<const fourfold::Prediction>& prediction, double milliseconds);

private:
    struct Answer {
        std::shared_ptr<const Prediction> prediction;
        double milliseconds = 0;
        quint64 serial = 0;
    };

    void work(const std::stop_token& stop);
    void deliver();

    std::mutex m_mutex;
    std::condition_variable_any m_changed;
    std::optional<ResolvedPlan> m_plan; // waiting for the worker
    quint64 m_planSerial = 0;
    std::optional<Answer> m_answer; // waiting for the owner
    quint64 m_wanted = 0, m_given = 0; // owner's thread only
    std::jthread m_worker;
};

} // namespace fourfold::ui
