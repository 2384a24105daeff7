// SPDX-License-Identifier: GPL-3.0-or-later
// Ending a run that another program launched, or that nobody follows any more.
#pragma once

#include "runner/runs/run.h"

namespace fourfold {

// Ends a run of this history (any unique id prefix, or "last") on every node and follows it to its end, which is
// stored. Where another program of this computer follows the run, that one stores the end. Of a Slurm job what waits
// in the queue is taken out of it, further attempts are ended too. A run that has ended returns at once. The result's
// state is not terminal, and its problem says why, where a host could not be reached; asking again is harmless.
Expected<RunResult> stop_run(const std::string& run_id, RunObserver& observer, std::stop_token stop,
    const std::filesystem::path& history_file = {});

} // namespace fourfold
