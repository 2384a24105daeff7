// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/prediction/predictor.h"

#include "core/calibration/published_layouts.h"
#include "core/calibration/user/evidence.h"

#include <chrono>

namespace fourfold::view {

namespace {
// One frame at 60 Hz with room for painting.
constexpr std::chrono::milliseconds kPatience{10};
} // namespace

Predictor::Predictor(Predict predict, std::function<void()> wake)
    : predict_(std::move(predict))
    , wake_(std::move(wake))
    , thread_([this](const std::stop_token& stop) { work(stop); })
{
}

Predictor::~Predictor()
{
    thread_.request_stop();
    thread_.join();
}

void Predictor::request(ResolvedPlan plan)
{
    const std::uint64_t serial = ++wanted_;
    std::unique_lock lock(mutex_);
    plan_ = std::move(plan);
    plan_serial_ = serial;
    changed_.notify_all();
    changed_.wait_for(lock, kPatience, [&] { return answer_ && answer_->serial == serial; });
}

std::optional<Predictor::Answer> Predictor::take()
{
    const std::scoped_lock lock(mutex_);
    std::optional<Answer> answer;
    if (answer_ && answer_->serial == wanted_) {
        answer.swap(answer_);
        given_ = answer->serial;
    }
    return answer;
}

void Predictor::work(const std::stop_token& stop)
{
    if (!predict_)
        shipped_layouts(); // while the first screen is being made, not when its first plan waits for an answer
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return plan_.has_value(); })) {
        const ResolvedPlan plan = std::move(*plan_);
        plan_.reset();
        const std::uint64_t serial = plan_serial_;
        lock.unlock();

        const auto begin = std::chrono::steady_clock::now();
        auto prediction = std::make_shared<const Prediction>(predict_ ? predict_(plan) : predict_with_evidence(plan));
        const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;

        lock.lock();
        answer_ = Answer{std::move(prediction), taken.count(), serial};
        changed_.notify_all();
        wake_();
    }
}

} // namespace fourfold::view
