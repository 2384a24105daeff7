// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runner/agent/run/run_folder.h"

#include <string>

namespace fourfold {

// Stops every node's share of a Slurm job through the run folder (`folder` is the first node's); what still waits in
// the queue is taken out of it. Says what was done beyond telling the agents, in words.
Expected<std::string> stop_job(const std::filesystem::path& base, const RunFolder& folder, const StopRequest& stop);

} // namespace fourfold
