// SPDX-License-Identifier: GPL-3.0-or-later
// What a measured sweep runs, asked for line by line: layouts, numbers of ranks, what is left out.
#pragma once

#include "app/tui/desk.h"
#include "app/view/runs/run_setup.h"
#include "runner/sweep/measured_sweep.h"

namespace fourfold::tui {

// Asks, and calls `start` once all of it is sound and the person wants it. Precondition: `setup` has a request.
void ask_for_sweep(Desk& desk, const view::RunSetup& setup, std::function<void(SweepRequest)> start);

} // namespace fourfold::tui
