// SPDX-License-Identifier: GPL-3.0-or-later
// Owns the ranks of a node from start to end, without any connection: starts them together, takes their events over,
// stops all when one fails or when asked to, and writes the last word (`end`).
#pragma once

#include "runner/agent/ranks/rank_process.h"
#include "runner/agent/run/run_folder.h"
#include "runner/agent/system/processes.h"
#include "runner/protocol/run_spec.h"

#include <functional>

namespace fourfold {

// Detaches a supervisor (two forks, own session, no terminal) that holds `lock` and goes on when the caller's
// connection dies. Returns its identity once every rank runs, or why one could not be started.
// `environment` is what the prelude left.
Expected<ProcessIdentity> start_supervisor(
    const RunFolder& folder, const RunSpec& spec, Rendezvous rendezvous, Environment environment, FileDescriptor lock);

// The same as a child of this process, for a batch job: returns when the ranks have ended; `idle` is called often. When
// this process dies the ranks are asked to stop. Fails when the ranks could not be started.
Expected<void> supervise_as_child(const RunFolder& folder, const RunSpec& spec, Rendezvous rendezvous,
    Environment environment, FileDescriptor lock, const std::function<void()>& idle);

// For a run whose supervisor is gone without an `end`: kills what is left of it, takes over what its ranks still
// wrote, and ends its events with `error` and `end` (status `lost`, or what Slurm says). Fails with `refused` while a
// supervisor lives.
Expected<void> close_lost_run(const RunFolder& folder, const std::string& run, int node,
    RunState status = RunState::lost, const std::string& why = {});

} // namespace fourfold
