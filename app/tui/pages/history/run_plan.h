// SPDX-License-Identifier: GPL-3.0-or-later
// What may be done with the plan of a stored run: looked at, run again, gone on with; its traced step.
#pragma once

#include "app/tui/desk.h"
#include "core/history/store.h"

#include <functional>

namespace fourfold::tui {

class RunsPage;

// `show_trace` shows the run's traced step beside the planned one. `desk` and `runs_page` outlive the question.
void ask_about_run_plan(
    Desk& desk, RunsPage& runs_page, const RunDetail& run, const std::function<void(const RunDetail&)>& show_trace);

} // namespace fourfold::tui
