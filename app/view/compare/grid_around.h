// SPDX-License-Identifier: GPL-3.0-or-later
// What a sweep looks at where no table names any layouts.
#pragma once

#include "core/search/sweep.h"

namespace fourfold::view {

// Degrees in powers of two on `plan`'s number of GPUs, its micro-batch; its own layout among them.
std::vector<GridLayout> layouts_around(const ResolvedPlan& plan);
// A quarter to four times the plan's GPUs.
std::vector<int> gpus_around(const ResolvedPlan& plan);

} // namespace fourfold::view
