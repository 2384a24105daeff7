// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/batch_ramp.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fourfold {

namespace {
// Steps of the same batch; the last one of a ramp-up has no end.
struct Level {
    double begin = 0; // sequences before
    int first_step = 0, size = 0;
};

// Calls `use` with each level until it returns false.
template <typename Use>
void for_each_level(const Training& training, Use&& use)
{
    Level level{0, 0, training.global_batch};
    if (const auto& ramp = training.ramp_up; ramp && ramp->start < training.global_batch) {
        const double grows = std::ceil(double(training.global_batch - ramp->start) / ramp->increment);
        const double each = ramp->samples / grows;
        for (int grown = 0; grown < int(grows); ++grown) {
            level.size = ramp->start + grown * ramp->increment;
            const double steps = std::max(0.0, std::ceil((each * (grown + 1) - level.begin) / level.size));
            if (level.first_step + steps >= double(std::numeric_limits<int>::max()) || (steps > 0 && !use(level)))
                return;
            level.begin += steps * level.size;
            level.first_step += int(steps);
        }
        level.size = training.global_batch;
    }
    use(level);
}
} // namespace

StepBatch step_batch(const Training& training, int step)
{
    Level found{0, 0, training.global_batch};
    for_each_level(training, [&](const Level& level) {
        if (level.first_step > step)
            return false;
        found = level;
        return true;
    });
    return {found.begin + double(step - found.first_step) * found.size, found.size};
}

int ramp_up_steps(const Training& training)
{
    int first = std::numeric_limits<int>::max();
    for_each_level(training, [&](const Level& level) {
        if (level.size == training.global_batch)
            first = level.first_step;
        return true;
    });
    return first;
}

int total_steps(const Training& training, const RunSettings& run)
{
    if (run.steps)
        return *run.steps;
    if (!run.tokens || !(training.seq_len > 0) || !(training.global_batch > 0))
        return kDefaultSteps;
    const double sequences = *run.tokens / training.seq_len;
    double steps = 1;
    for_each_level(training, [&](const Level& level) {
        if (level.begin >= sequences)
            return false;
        steps = level.first_step + std::ceil((sequences - level.begin) / level.size);
        return true;
    });
    return static_cast<int>(std::clamp(steps, 1.0, double(std::numeric_limits<int>::max())));
}

} // namespace fourfold
