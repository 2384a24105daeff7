// SPDX-License-Identifier: GPL-3.0-or-later
// Found layouts as points, tokens/s per GPU over memory.
#pragma once

#include "app/tui/widgets/plot.h"
#include "app/view/points.h"
#include "app/view/search/results.h"

#include <optional>

namespace fourfold::tui {

view::RowPoints found_points(const view::Results& results); // of the rows on show
// The layouts that are on show, so many of those beside the Pareto front; `chosen` (its id) stands out.
Plot found_front(const view::Results& results, const std::optional<std::size_t>& chosen, std::size_t most);

} // namespace fourfold::tui
