// SPDX-License-Identifier: GPL-3.0-or-later
// How fast a target's ranks are: measured by the trainer there, fitted, and saved as a cluster of the user's.
#pragma once

#include "core/calibration/user/measured_machine.h"
#include "runner/preflight/cluster_match.h"

namespace fourfold::view {

inline constexpr const char* kThisComputer = "this-computer"; // cluster and plan

struct MeasuringJob {
    ResolvedPlan plan; // the shapes, the cluster and the number of ranks
    Target target;
    std::string cluster; // id that it is saved under
};
// Of a cluster that was found and saved: on one node, up to eight ranks (groups of 2, 4 and 8 are measured). Fails
// where the figures could not be saved, so that nobody waits for a minute only to hear it. `shapes`: plan of the model
// whose shapes are measured; none = a small one.
Expected<MeasuringJob> measuring_job_of(
    const SavedCluster& saved, const FoundNodes& nodes, const std::optional<Plan>& shapes);

struct SavedMachine {
    MeasuredMachine machine;
    std::string cluster; // id
    std::filesystem::path file;
};
// Takes about a minute, and in a queue as long as the job waits.
Expected<SavedMachine> measure_machine(const MeasuringJob& job, RunObserver& observer, std::stop_token stop);

} // namespace fourfold::view
