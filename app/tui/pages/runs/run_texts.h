// SPDX-License-Identifier: GPL-3.0-or-later
// What a run said, over the page: output of a rank, log, alerts of its watch, why it failed.
#pragma once

#include "app/tui/desk.h"
#include "app/view/runs/live_run.h"

namespace fourfold::tui {

void ask_for_output(Desk& desk, const view::LiveRun& run); // of which rank
void show_log(Desk& desk, const view::LiveRun& run);
void show_alerts(Desk& desk, const view::LiveRun& run);
void show_failure(Desk& desk, const view::LiveRun& run); // of one that did not fail the log

} // namespace fourfold::tui
