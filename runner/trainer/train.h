// SPDX-License-Identifier: GPL-3.0-or-later
// The whole life of one rank: read the plan, meet the others, train, report.
#pragma once

#include "runner/trainer/job.h"

namespace fourfold::trainer {

inline constexpr int kStoppedStatus = 143; // 128 + SIGTERM, as a shell reports it

// Trains as the plan says and returns the exit status of the program. Problems go to standard error as one line and,
// once the run folder is open, into the event stream.
int train(const Job& job);

// Asks a running training loop to end after its current step, once or more often. False where no loop runs.
// Async-signal-safe.
bool request_stop();

// Writes an `error` event for a failure outside of the training loop's own control flow.
void report_fatal(const std::string& what);

} // namespace fourfold::trainer
