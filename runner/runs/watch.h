// SPDX-License-Identifier: GPL-3.0-or-later
// A run that another program of this computer follows, by what that one stores.
#pragma once

#include "runner/runs/run.h"

#include <filesystem>
#include <stop_token>
#include <string>

namespace fourfold {

// Tells `observer` of the run's events from the first one on, as they arrive in its folder here, until that program
// lets the run go (it has ended, or is anybody's to follow) or a stop is requested. The result has the state in which
// the run was seen last. `run_id` and `history_file` as for attach().
Expected<RunResult> watch_run(const std::string& run_id, RunObserver& observer, const std::stop_token& stop,
    const std::filesystem::path& history_file = {});

} // namespace fourfold
