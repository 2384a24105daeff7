// SPDX-License-Identifier: GPL-3.0-or-later
// The batch script of a run: readable, of checked words only, nothing of the plan in it.
#pragma once

#include "runner/target/target.h"

#include <string>

namespace fourfold {

// @AGENT@ and @FOLDER@ stand for the agent's path and the run folder, which the login host knows. Precondition:
// target.slurm is set. `saves`: the ranks save a checkpoint where they are asked to stop.
std::string slurm_script(const Target& target, const std::string& run, int nodes, bool saves);

} // namespace fourfold
