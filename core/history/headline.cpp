// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/history/headline.h"

#include <algorithm>
#include <cmath>

namespace fourfold::history {

double quantile(const std::vector<double>& sorted, double q)
{
    const double at = q * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(at));
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Headline headline(std::vector<StepFigures> steps, std::optional<int> read_at)
{
    std::erase_if(steps, [](const StepFigures& step) { return !step.tps_per_gpu; });
    Headline result;
    if (steps.empty())
        return result;
    std::stable_sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.step < b.step; });

    if (read_at) {
        // After a restart a step may be there twice; the later measurement is the one that counts.
        const auto found = std::find_if(
            steps.rbegin(), steps.rend(), [&](const StepFigures& step) { return step.step == *read_at; });
        if (found != steps.rend()) {
            result.tps_per_gpu = found->tps_per_gpu;
            result.step_time_s = found->step_time_s;
            result.rule = "step " + std::to_string(*read_at);
            return result;
        }
    }

    const std::size_t warm_up = steps.size() == 1 ? 0 : std::max<std::size_t>(1, steps.size() / 5);
    std::vector<double> tps, times;
    for (std::size_t i = warm_up; i < steps.size(); ++i) {
        tps.push_back(*steps[i].tps_per_gpu);
        if (steps[i].step_time_s)
            times.push_back(*steps[i].step_time_s);
    }
    std::sort(tps.begin(), tps.end());
    std::sort(times.begin(), times.end());
    result.tps_per_gpu = quantile(tps, 0.5);
    if (!times.empty())
        result.step_time_s = quantile(times, 0.5);
    if (tps.size() == 1) {
        result.rule = "step " + std::to_string(steps.back().step);
        return result;
    }
    if (*result.tps_per_gpu > 0)
        result.spread = (quantile(tps, 0.9) - quantile(tps, 0.1)) / *result.tps_per_gpu;
    result.rule = "median of steps " + std::to_string(steps[warm_up].step) + ".." + std::to_string(steps.back().step);
    return result;
}

} // namespace fourfold::history
