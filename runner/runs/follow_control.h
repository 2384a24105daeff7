// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runner/runs/follow.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace fourfold {

// What the launching thread tells the workers.
class FollowControl {
public:
    void order(StopOrder order)
    {
        const std::lock_guard lock(mutex_);
        if (order_)
            return;
        order_ = std::move(order);
        ordered_at_ = std::chrono::steady_clock::now();
        changed_.notify_all();
    }
    [[nodiscard]] std::optional<StopOrder> order() const
    {
        const std::lock_guard lock(mutex_);
        return order_;
    }
    [[nodiscard]] bool ordered_before(std::chrono::duration<double> age) const
    {
        const std::lock_guard lock(mutex_);
        return order_ && std::chrono::steady_clock::now() - ordered_at_ > age;
    }
    void detach()
    {
        const std::lock_guard lock(mutex_);
        detached_ = true;
        changed_.notify_all();
        interrupt_.request_stop();
    }
    [[nodiscard]] bool detached() const
    {
        const std::lock_guard lock(mutex_);
        return detached_;
    }
    void ask_for_diagnosis() { ++diagnoses_; }
    [[nodiscard]] int diagnoses() const { return diagnoses_; }
    [[nodiscard]] std::stop_token interrupted() const { return interrupt_.get_token(); }
    // Sleeps; woken by detach and by an order that was not there before.
    void sleep(std::chrono::milliseconds time) const
    {
        std::unique_lock lock(mutex_);
        const bool had = order_.has_value();
        changed_.wait_for(lock, time, [&] { return detached_ || order_.has_value() != had; });
    }

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::optional<StopOrder> order_;
    std::chrono::steady_clock::time_point ordered_at_;
    bool detached_ = false;
    std::stop_source interrupt_;
    std::atomic<int> diagnoses_ = 0; // how often the ranks were asked what they do
};

} // namespace fourfold
