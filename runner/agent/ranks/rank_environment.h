// SPDX-License-Identifier: GPL-3.0-or-later
// The variables and the command line that a rank is started with.
#pragma once

#include "core/base/file_descriptor.h"
#include "runner/agent/ranks/prelude.h"
#include "runner/protocol/run_spec.h"

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold {

struct Rendezvous {
    std::string address; // numeric, of the first node
    int port = 0;
    std::string token; // by which the ranks know each other (runner/net/proof.h)
    FileDescriptor listener; // where rank 0 is to serve; on the first node only
};

// "NAME=value", sorted: `before` (the prelude's), what the target and the plan ask for, the launcher's contract.
// `cores`: how many the rank may use, for OMP_NUM_THREADS.
std::vector<std::string> rank_environment(const RunSpec& spec, const RankPlace& place,
    const std::filesystem::path& folder, const Rendezvous& rendezvous, const Environment& before, std::size_t cores);

// A path that may begin with "~/", in that environment.
std::string at_home(const std::string& path, const Environment& environment);
// Apptainer's or Singularity's program in the environment's PATH; empty where there is none.
std::string container_program(const Environment& environment);
// The trainer's command line, through the container where there is one. Fails with not_found without apptainer.
Expected<std::vector<std::string>> rank_command(
    const RunSpec& spec, const std::filesystem::path& folder, const Environment& environment);

} // namespace fourfold
