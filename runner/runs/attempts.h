// SPDX-License-Identifier: GPL-3.0-or-later
// A preempted Slurm job that is queued again: each attempt is a run of its own, "<run>A1", "<run>A2" ...
#pragma once

#include "runner/runs/follow.h"
#include "runner/runs/run.h"

#include <string>

namespace fourfold {

struct Attempt {
    std::string run; // of the first attempt
    int number = 0;
};
Attempt attempt_of(const std::string& id);

// Follows a run that is in the history, as attach() does; with OnStop::cancel a stop request ends the run.
Expected<RunResult> follow_stored(const std::string& run_id, RunObserver& observer, std::stop_token stop,
    const std::filesystem::path& history_file, OnStop on_stop);

// What became of a run that ended with `result` on `target`: where it was preempted and its job is queued again, the
// further attempts are taken into the history and followed; the last one's result. A stop request while the job waits
// takes it out of the queue with OnStop::cancel, and leaves it there with OnStop::detach.
Expected<RunResult> follow_attempts(RunResult result, const Target& target, const std::filesystem::path& agent,
    RunObserver& observer, std::stop_token stop, const std::filesystem::path& history_file, OnStop on_stop);

} // namespace fourfold
