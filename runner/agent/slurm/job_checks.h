// SPDX-License-Identifier: GPL-3.0-or-later
// The look at the nodes of a Slurm job before its ranks start: nobody knew before which nodes they would be. Each node
// writes what it finds into the folder that they share, the first one judges.
#pragma once

#include "core/base/expected.h"
#include "runner/protocol/run_spec.h"

#include <filesystem>

namespace fourfold {

// What stands in the way on this node (node_checks) and which GPUs it has, as "findings<node>.json" in `shared`.
Expected<void> write_findings(
    const std::filesystem::path& shared, const RunSpec& spec, const std::filesystem::path& base);

// On the first node, when all have written theirs: warnings become events of the run, in `events`; the first error, or
// GPUs of several models where the target does not allow them, is a Problem.
Expected<void> judge_findings(
    const std::filesystem::path& shared, const RunSpec& spec, const std::filesystem::path& events);

} // namespace fourfold
