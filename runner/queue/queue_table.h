// SPDX-License-Identifier: GPL-3.0-or-later
// The queue as people see it, and as scripts read it.
#pragma once

#include "core/report/table/table.h"
#include "runner/queue/run_queue.h"

namespace fourfold {

// A row per run in their order: number, state, plan, gpus, target, steps, run, what is to be known of it.
Table queue_table(const QueueContents& contents);
// "waiting", "waiting for run 1f2e...", "running", the end's own word.
std::string turn_text(const QueuedRun& run);
// "2 runs wait, 1 goes on", "paused: 2 runs wait".
std::string queue_summary(const QueueContents& contents);

} // namespace fourfold
