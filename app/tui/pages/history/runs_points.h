// SPDX-License-Identifier: GPL-3.0-or-later
// Stored runs as points, predicted over measured tokens/s per GPU.
#pragma once

#include "app/tui/widgets/plot.h"
#include "app/view/history/runs_list.h"
#include "app/view/points.h"

namespace fourfold::tui {

view::RowPoints runs_points(const view::RunsList& list); // of the rows on show that have both
// Of the rows on show, with the line where both agree; `chosen` stands out, null: none does.
Plot runs_scatter(const view::RunsList& list, const RunSummary* chosen);

} // namespace fourfold::tui
