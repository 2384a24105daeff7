// SPDX-License-Identifier: GPL-3.0-or-later
// One rank: a process of its own group that dies with its supervisor.
#pragma once

#include "core/base/expected.h"
#include "runner/agent/ranks/rank_environment.h"
#include "runner/protocol/run_spec.h"

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace fourfold {

// Starts `place`'s process: run folder as working folder, standard output and error to `log`, `before` and the
// variables of the launcher's contract as environment, bound to its NUMA node's cores where the target asks for that.
// Called by the supervisor itself: the rank is killed when the calling thread ends. Fails when the program cannot be
// executed.
Expected<pid_t> start_rank(const RunSpec& spec, const RankPlace& place, const std::filesystem::path& folder,
    const Rendezvous& rendezvous, const Environment& before, int log);

// "killed by SIGSEGV (segmentation fault)", "ended with exit status 37".
std::string describe_exit(int wait_status);

} // namespace fourfold
