// SPDX-License-Identifier: GPL-3.0-or-later
// From a checked plan to a queued Slurm job, and from a preempted attempt to the next one.
#pragma once

#include "runner/nodes/node.h"
#include "runner/runs/launch_plan.h"
#include "runner/runs/start_nodes.h"

#include <optional>
#include <string>
#include <vector>

namespace fourfold {

// `nodes` holds the login host alone. Brings the files to the shared file system and submits the job.
Expected<void> start_slurm_job(std::vector<Node>& nodes, const LaunchPlan& plan, const std::string& run,
    Mailbox& mailbox, RunObserver& observer, std::stop_token stop, const EnterState& enter);

// Waits until Slurm has started a further attempt of a preempted run; its number, or nothing when there will be none.
Expected<std::optional<int>> next_attempt(
    Node& login, const std::string& run, int last, RunObserver& observer, std::stop_token stop);

} // namespace fourfold
