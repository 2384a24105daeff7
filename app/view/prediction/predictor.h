// SPDX-License-Identifier: GPL-3.0-or-later
// predict() on its own thread, newest request first. An answer that is ready within a frame is there when request()
// returns, so that a field never shows a figure of the edit before; of a slower one the owner is woken.
#pragma once

#include "core/predict/prediction.h"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace fourfold::view {

class Predictor {
public:
    using Predict = std::function<Prediction(const ResolvedPlan&)>;

    // `predict` null: predict_with_evidence(). `wake` is called on the thread after each answer, and must not call
    // back.
    explicit Predictor(Predict predict, std::function<void()> wake);
    ~Predictor();
    Predictor(const Predictor&) = delete;
    Predictor& operator=(const Predictor&) = delete;

    // Asks for the prediction of `plan` and waits for at most a frame; drops a request that has not begun.
    void request(ResolvedPlan plan);
    struct Answer {
        std::shared_ptr<const Prediction> prediction;
        double milliseconds = 0;
        std::uint64_t serial = 0;
    };
    // The answer to the newest request, once.
    std::optional<Answer> take();
    // True from request() until take() gave its answer.
    [[nodiscard]] bool is_busy() const { return wanted_ != given_; }

private:
    void work(const std::stop_token& stop);

    Predict predict_;
    std::function<void()> wake_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::optional<ResolvedPlan> plan_; // waiting for the thread
    std::uint64_t plan_serial_ = 0;
    std::optional<Answer> answer_; // waiting for the owner
    std::uint64_t wanted_ = 0, given_ = 0; // the owner's alone
    std::jthread thread_;
};

} // namespace fourfold::view
