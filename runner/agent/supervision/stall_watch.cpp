// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/supervision/stall_watch.h"

#include <algorithm>
#include <vector>

namespace fourfold {

StallWatch::StallWatch(const RunLimits& limits, double now)
    : limits_(limits)
    , last_(now)
{
}

void StallWatch::step(double now)
{
    if (last_step_ >= 0) {
        steps_.push_back(now - last_step_);
        if (steps_.size() > kSteps)
            steps_.pop_front();
    }
    last_step_ = now;
    sign_of_life(now);
}

void StallWatch::sign_of_life(double now)
{
    last_ = now;
    recovered_ = recovered_ || stalled_;
    stalled_ = false;
}

double StallWatch::median() const
{
    if (steps_.empty())
        return 0;
    std::vector<double> sorted(steps_.begin(), steps_.end());
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return *middle;
}

double StallWatch::limit() const
{
    if (last_step_ < 0)
        return std::max(limits_.first_step_s, limits_.stall_s);
    return std::max(limits_.stall_s, limits_.stall_steps * median());
}

StallWatch::Finding StallWatch::look(double now)
{
    if (limits_.stall_s <= 0)
        return Finding::none;
    if (recovered_) {
        recovered_ = false;
        return Finding::recovered;
    }
    if (!stalled_ && now - last_ > limit()) {
        stalled_ = true;
        stalled_at_ = now;
        return Finding::stalled;
    }
    if (stalled_ && !hung_ && limits_.hang_s > 0 && now - stalled_at_ > limits_.hang_s) {
        hung_ = true;
        return Finding::hung;
    }
    return Finding::none;
}

} // namespace fourfold
