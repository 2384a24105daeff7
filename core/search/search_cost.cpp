// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/search_cost.h"

#include <algorithm>

namespace fourfold {

SearchCost search_cost(const SearchRequest& request, std::chrono::milliseconds at_most)
{
    using Clock = std::chrono::steady_clock;
    constexpr std::size_t kTried = 32;
    SearchRequest part = request;
    const std::vector<int>& gpus = request.space.gpus;
    if (gpus.size() > kTried) {
        part.space.gpus.clear();
        for (std::size_t i = 0; i < kTried; ++i) // from the middle of each part
            part.space.gpus.push_back(gpus[(2 * i + 1) * gpus.size() / (2 * kTried)]);
    }
    std::stop_source stop;
    const auto end = Clock::now() + at_most;
    double share = 1;
    const SearchResult result = search(part,
        {nullptr,
            [&](double done, const SearchCounts&) {
                share = done;
                if (Clock::now() >= end)
                    stop.request_stop();
            }},
        stop.get_token());
    const double times
        = double(gpus.size()) / double(std::max<std::size_t>(1, part.space.gpus.size())) / std::max(share, 1e-9);
    return {double(result.counts.enumerated) * times, result.seconds * times};
}

std::optional<double> seconds_left(double share, double seconds)
{
    constexpr double kLeastShare = 0.005, kLeastSeconds = 1;
    if (!(share >= kLeastShare) || seconds < kLeastSeconds)
        return std::nullopt;
    return seconds * (1 - share) / share;
}

} // namespace fourfold
