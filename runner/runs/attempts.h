// SPDX-License-Identifier: GPL-3.0-or-later
// Following a run through the further attempts of its Slurm job.
#pragma once

#include "runner/runs/follow.h"
#include "runner/runs/run.h"

#include <string>

namespace fourfold {

// Follows a run that is in the history, as attach() does; with OnStop::cancel a stop request ends the run, with an
// `order` it is ended from the beginning. `refused` where another program of this computer follows it. `all_events`:
// however many there are, also of a run that has ended.
Expected<RunResult> follow_stored(const std::string& run_id, RunObserver& observer, std::stop_token stop,
    const std::filesystem::path& history_file, OnStop on_stop, const std::optional<StopOrder>& order = {},
    bool all_events = false);

// attach(), and with OnStop::cancel a stop request ends the run with its further attempts.
Expected<RunResult> follow_to_end(const std::string& run_id, RunObserver& observer, std::stop_token stop,
    const std::filesystem::path& history_file, OnStop on_stop, bool all_events = false);

// What became of a run that ended with `result` on `target`: where it was preempted and its job is queued again, the
// further attempts are taken into the history and followed; the last one's result. A stop request while the job waits
// takes it out of the queue with OnStop::cancel, and leaves it there with OnStop::detach. With an `order` nothing is
// waited for: the job leaves the queue, and an attempt that runs is ended.
Expected<RunResult> follow_attempts(RunResult result, const Target& target, const std::filesystem::path& agent,
    RunObserver& observer, std::stop_token stop, const std::filesystem::path& history_file, OnStop on_stop,
    const std::optional<StopOrder>& order = {});

} // namespace fourfold
