// SPDX-License-Identifier: GPL-3.0-or-later
// Going on after a run that failed: from its newest checkpoint, on the hosts that are left.
#pragma once

#include "runner/runs/run.h"

#include <functional>

namespace fourfold {

// A run of its own to its end, as launch() without restarts.
using RunOnce = std::function<Expected<RunResult>(const RunRequest&)>;

// What became of `request` after its first run ended with `result`. As long as runs fail, hang or are lost, and at most
// request.restarts times, the training goes on in a further run. Before each the hosts of a target over SSH are looked
// at: if all of them are there it is the same plan on all of them, otherwise the layout which the search picks for
// those that are left. The history's note of a further run says which run it follows, which hosts are lost and what of
// the plan was changed. Returns the last run's result: also where no layout fits, of which the observer is told.
Expected<RunResult> go_on_after(RunResult result, const RunRequest& request, const RunOnce& run_once,
    RunObserver& observer, const std::stop_token& stop);

} // namespace fourfold
