// SPDX-License-Identifier: GPL-3.0-or-later
// Owns the ranks of a node from start to end, without any connection: starts them together, takes their events over,
// stops all when one fails or when asked to, and writes the last word (`end`).
#pragma once

#include "runner/agent/processes.h"
#include "runner/agent/rank_process.h"
#include "runner/agent/run_folder.h"
#include "runner/protocol/run_spec.h"

namespace fourfold {

// Detaches a supervisor (two forks, own session, no terminal) that holds `lock` and goes on when the caller's
// connection dies. Returns its identity once every rank runs, or why one could not be started.
Expected<ProcessIdentity> start_supervisor(
    const RunFolder& folder, const RunSpec& spec, const Rendezvous& rendezvous, FileDescriptor lock);

// For a run whose supervisor is gone without an `end`: kills what is left of it, takes over what its ranks still
// wrote, and ends its events with `error` and `end` (status `lost`). Fails with `refused` while a supervisor lives.
Expected<void> close_lost_run(const RunFolder& folder, const std::string& run, int node);

} // namespace fourfold
