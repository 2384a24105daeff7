// SPDX-License-Identifier: GPL-3.0-or-later
// The target's prelude (`module load ...`): run once on a node before the ranks, which get the environment it leaves.
#pragma once

#include "core/base/expected.h"
#include "runner/agent/system/file_descriptor.h"
#include "runner/protocol/run_spec.h"

#include <filesystem>
#include <map>
#include <string>

namespace fourfold {

using Environment = std::map<std::string, std::string>;

// This process's variables without those that belong to the session that brought it here.
Environment own_environment();
struct Prelude {
    Environment environment; // what it left to the ranks
    // What it left running lives as long as a process has this open: the session, then the run's supervisor.
    FileDescriptor alive;
};

// Runs spec.prelude in a login shell, in the run folder, until that shell ends; nothing to run: own_environment(). Its
// output, of which the beginning and the end are kept, goes to prelude.log. A process that it leaves running
// (`ssh-agent`) is named in the run's events. A line that fails, and a prelude that takes longer than its time-out, is
// a Problem with the end of that output; nothing of it runs on. Nor does it where `client`, a descriptor of whoever
// asked for it, hangs up.
Expected<Prelude> run_prelude(const RunSpec& spec, const std::filesystem::path& folder, int client = -1);

} // namespace fourfold
