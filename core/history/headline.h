// SPDX-License-Identifier: GPL-3.0-or-later
// A run's headline figures from its steps. No database here.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fourfold::history {

// The figures of one `step` event that the headline needs.
struct StepFigures {
    int step = 0;
    std::optional<double> tps_per_gpu; // tokens/s of the job divided by its GPUs
    std::optional<double> step_time_s;
};

struct Headline {
    std::optional<double> tps_per_gpu, step_time_s; // medians over the window
    std::optional<double> spread; // (p90 - p10) / median of tps_per_gpu; empty for a window of one step
    std::string rule; // "median of steps 11..50", "step 90"; empty without steps
};

// The rule: the step `read_at` when it is set and was received (torchtitan reads step 90); else the median after
// warm-up, which is the first 20 % of the received steps and at least one (the first step pays for allocation, library
// start and the caches). A run of one step is read at that step. Steps without tps_per_gpu do not count.
Headline headline(std::vector<StepFigures> steps, std::optional<int> read_at);

// Quantile by linear interpolation between order statistics (q in [0, 1]); `sorted` ascending and not empty.
double quantile(const std::vector<double>& sorted, double q);

} // namespace fourfold::history
