// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/search/search_words.h"

#include "app/view/text.h"

#include <cmath>

namespace fourfold::view {

std::span<const ObjectiveChoice> objective_choices()
{
    static constexpr ObjectiveChoice choices[]{{"tps_per_gpu", "Tokens/s per GPU"}, {"step_time_s", "Step time"},
        {"tokens_per_second", "Tokens/s of the job"}, {"mfu", "MFU"}, {"memory_gib", "Least memory"},
        {"gpus", "Fewest GPUs"}, {"days", "Days to train"}, {"gpu_hours", "GPU-hours to train"},
        {"cost", "Cost to train"}, {"energy_mwh", "Energy to train"}, {"goodput", "Goodput"},
        {"expected_days", "Days with failures"}, {"expected_cost", "Cost with failures"}};
    return choices;
}

std::string search_progress_text(const SearchCounts& counts, std::optional<double> seconds_left)
{
    const std::string done
        = grouped(double(counts.enumerated)) + " tried, " + grouped(double(counts.evaluated)) + " evaluated";
    return seconds_left ? done + ", about " + rough_duration(std::ceil(*seconds_left)) + " left" : done;
}

std::string search_outcome_text(const SearchResult& result)
{
    const SearchCounts& counts = result.counts;
    const std::string end = (result.cancelled ? "cancelled after " : "in ") + duration(result.seconds);
    const std::string hidden = counts.refused == 0
        ? std::string()
        : "; " + grouped(double(counts.refused)) + " refused"; // by the plan's software, and not shown
    if (counts.evaluated + counts.bounded == 0)
        return "Nothing found " + end + hidden;
    return grouped(double(counts.evaluated + counts.bounded)) + " of " + grouped(double(counts.enumerated))
        + " layouts fit, " + grouped(double(result.pareto.size())) + " on the Pareto front, " + end + hidden;
}

} // namespace fourfold::view
