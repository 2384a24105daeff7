// SPDX-License-Identifier: GPL-3.0-or-later
// A search in words: its objectives, how far it is, and what came out.
#pragma once

#include "core/search/search.h"

#include <optional>
#include <span>
#include <string>

namespace fourfold::view {

// What parse_objective() takes, with words for people; the first is the usual one.
struct ObjectiveChoice {
    const char* field;
    const char* label;
};
std::span<const ObjectiveChoice> objective_choices();

// "1,234 tried, 56 evaluated, about 12 s left".
std::string search_progress_text(const SearchCounts& counts, std::optional<double> seconds_left);
// "412 of 3,186 layouts fit, 9 on the Pareto front", or that there is none; why, says obstacle() of
// core/report/views/obstacle.h.
std::string search_outcome_text(const SearchResult& result);

} // namespace fourfold::view
