// SPDX-License-Identifier: GPL-3.0-or-later
// What a search will take, before it is begun and while it runs.
#pragma once

#include "core/search/search.h"

#include <chrono>

namespace fourfold {

// About how many layouts a request enumerates, and how long it takes: found by searching some of its numbers of GPUs
// for some of the time.
struct SearchCost {
    double layouts = 0, seconds = 0;
};
SearchCost search_cost(
    const SearchRequest& request, std::chrono::milliseconds at_most = std::chrono::milliseconds(300));

// More layouts than this only who asks for them should wait for: minutes, on a few cores.
inline constexpr double kManyLayouts = 2e9;

// How long a search goes on that took `seconds` for a share of its space; empty as long as that says nothing.
std::optional<double> seconds_left(double share, double seconds);

} // namespace fourfold
