// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold-agent slurm-node FOLDER`: this node's share of a run within a Slurm job, started by srun. FOLDER is the run
// folder of the first node, on a file system that all nodes share; it holds the specs of all nodes
// (slurm/spec<k>.json) and the token of its ranks (slurm/token, readable by the user alone).
#pragma once

#include <filesystem>

namespace fourfold {

inline constexpr char kTokenFile[] = "token";

// Until the ranks of this node have ended; the process's exit status.
int run_slurm_node(const std::filesystem::path& folder);

} // namespace fourfold
