// SPDX-License-Identifier: GPL-3.0-or-later
// From nothing to running ranks: preflight, staging, and the start in two phases (all nodes ready, then all start).
#pragma once

#include "runner/nodes/node.h"
#include "runner/runs/follow.h"
#include "runner/runs/launch_plan.h"

#include <optional>
#include <string>

namespace fourfold {

// Called on the launching thread when the run enters a state.
using EnterState = std::function<Expected<void>(RunState, const std::string& what)>;

// Fails when nothing was started. Otherwise returns the order to stop when some node could not start its ranks: those
// that run must be followed to their end.
Expected<std::optional<StopOrder>> start_nodes(std::vector<Node>& nodes, const LaunchPlan& plan, const std::string& run,
    Mailbox& mailbox, RunObserver& observer, std::stop_token stop, const EnterState& enter);

// The share of the `node`-th node, with the files as they are on `at` (Slurm: the login host's shared file system).
RunSpec spec_of_node(const Node& at, const LaunchPlan& plan, const std::string& run, int node, const std::string& host);

// Whether the trainer can run there at all: processor and C library.
Expected<void> check_system(const Node& node, const LaunchPlan& plan);
// What a node lacks for its share of the run (architecture, C library, memory, GPUs).
Expected<void> check_node(const Node& node, const LaunchPlan& plan);

} // namespace fourfold
