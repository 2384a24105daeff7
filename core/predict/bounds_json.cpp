// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/bounds.h"

namespace fourfold {

Json to_json(const Bounds& bounds)
{
    Json levels = Json::array(), links = Json::array();
    for (const CapacityLevel& level : bounds.levels)
        levels.push_back(
            {{"level", level.level}, {"gpus", level.gpus}, {"memory_gib", number_or_null(level.memory_gib)},
                {"most_parameters", number_or_null(level.most_parameters)}, {"holds_model", level.holds_model}});
    for (const LinkBound& link : bounds.links) {
        const auto least = link.bound.least_batch();
        links.push_back({{"parallelism", link.parallelism}, {"link", std::string(name(link.link))},
            {"ranks", link.ranks}, {"used", link.used}, {"batch", link.batch},
            {"compute_s", number_or_null(link.bound.compute_s(link.batch))},
            {"communication_s", number_or_null(link.bound.communication_s(link.batch))},
            {"latency_s", number_or_null(link.bound.latency_s)}, {"compute_bound", link.compute_bound()},
            {"least_batch", number_or_null(least)}});
    }
    return {{"compute_tflops", number_or_null(bounds.compute_tflops)},
        {"state_bytes_per_parameter", number_or_null(bounds.state_bytes_per_parameter)}, {"levels", std::move(levels)},
        {"links", std::move(links)}};
}

} // namespace fourfold
