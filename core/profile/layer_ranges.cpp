// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/layer_ranges.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace fourfold {

std::optional<int> layer_of_range(std::string_view name)
{
    constexpr std::array kBefore{
        "layers.", "layer.", "layers_", "layer_", "layer ", "blocks.", "block_", "decoderlayer_"};
    constexpr int kMostLayers = 100'000;
    const std::string lower = lower_case(name);
    for (const std::string_view before : kBefore) {
        for (std::size_t at = lower.find(before); at != std::string::npos; at = lower.find(before, at + 1)) {
            const char* const digits = lower.data() + at + before.size();
            int layer = 0;
            const auto [end, error] = std::from_chars(digits, lower.data() + lower.size(), layer);
            if (error == std::errc() && layer >= 0 && layer < kMostLayers)
                return layer;
        }
    }
    return {};
}

void LayerRanges::add(std::int64_t thread, double start_s, double end_s, int layer)
{
    ranges_.push_back({thread, start_s, end_s, layer});
}

void LayerRanges::sort()
{
    std::ranges::sort(ranges_, [](const Range& a, const Range& b) {
        if (a.thread != b.thread)
            return a.thread < b.thread;
        return a.start_s != b.start_s ? a.start_s < b.start_s : a.end_s > b.end_s;
    });
    std::ptrdiff_t open = -1; // the innermost range that has not ended
    for (std::ptrdiff_t i = 0; i < std::ssize(ranges_); ++i) {
        Range& range = ranges_[static_cast<std::size_t>(i)];
        const auto holds = [&](std::ptrdiff_t place) {
            const Range& around = ranges_[static_cast<std::size_t>(place)];
            return around.thread == range.thread && around.end_s >= range.end_s;
        };
        while (open >= 0 && !holds(open))
            open = ranges_[static_cast<std::size_t>(open)].around;
        range.around = open;
        open = i;
    }
}

int LayerRanges::layer_at(std::int64_t thread, double time_s) const
{
    const auto after = std::ranges::upper_bound(ranges_, std::pair(thread, time_s), {},
        [](const Range& range) { return std::pair(range.thread, range.start_s); });
    for (std::ptrdiff_t at = after - ranges_.begin() - 1; at >= 0;) {
        const Range& range = ranges_[static_cast<std::size_t>(at)];
        if (range.thread != thread)
            return -1;
        if (time_s < range.end_s)
            return range.layer;
        at = range.around;
    }
    return -1;
}

} // namespace fourfold
