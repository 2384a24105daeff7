// SPDX-License-Identifier: GPL-3.0-or-later
// The target's prelude (`module load ...`): run once on a node before the ranks, which get the environment it leaves.
#pragma once

#include "core/base/expected.h"
#include "runner/protocol/run_spec.h"

#include <filesystem>
#include <map>
#include <string>

namespace fourfold {

using Environment = std::map<std::string, std::string>;

// This process's variables without those that belong to the session that brought it here.
Environment own_environment();
// Runs spec.prelude in a login shell, in the run folder, with its output in prelude.log; nothing to run:
// own_environment(). A line that fails, and a prelude that takes longer than its time-out, is a Problem with the end of
// that output.
Expected<Environment> run_prelude(const RunSpec& spec, const std::filesystem::path& folder);

} // namespace fourfold
