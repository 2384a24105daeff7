// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/run_settings.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fourfold {

namespace {
constexpr double kWsdStableShare = 0.8;
}

double RunSettings::learning_rate(int step, int total) const
{
    if (step < warmup_steps)
        return lr * (step + 1) / warmup_steps;
    // `done` runs from 0 after the warm-up to 1 at the last step.
    const auto falling = [&](double first) {
        const double last = total - 1;
        return last > first ? std::clamp((step - first) / (last - first), 0.0, 1.0) : 0.0;
    };
    const double done = falling(warmup_steps);
    switch (lr_schedule) {
    case LrSchedule::constant:
        return lr;
    case LrSchedule::linear:
        return lr + (min_lr - lr) * done;
    case LrSchedule::cosine:
        return min_lr + 0.5 * (lr - min_lr) * (1 + std::cos(std::numbers::pi * done));
    case LrSchedule::wsd:
        break;
    }
    const double stable_end = std::max<double>(warmup_steps, std::floor(kWsdStableShare * total));
    return step < stable_end ? lr : lr + (min_lr - lr) * falling(stable_end);
}

} // namespace fourfold
