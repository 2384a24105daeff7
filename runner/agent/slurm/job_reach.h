// SPDX-License-Identifier: GPL-3.0-or-later
// Whether the nodes of a Slurm job reach each other, on ports like those of the ranks, before the ranks start. The
// nodes tell each other through the folder that they share.
#pragma once

#include "runner/agent/system/server_process.h"
#include "runner/protocol/run_spec.h"

#include <filesystem>

namespace fourfold {

class JobReach {
public:
    // Answers those of the other nodes that know the run's token at `spec.address`, for as long as this object lives,
    // and says so as "reach<node>.json" in `shared`.
    static Expected<JobReach> start(const std::filesystem::path& shared, const RunSpec& spec, const std::string& token);

    // When all have said where they answer: tries the next 16 nodes in their order and the first one, and writes
    // "reached<node>.json". False until then. Waits `timeout_s` for a node that is silent, and gives up after three.
    Expected<bool> look(double timeout_s = 5);

    // On the first node: false until all have looked. The first pair of nodes that cannot talk is a Problem.
    [[nodiscard]] Expected<bool> judge() const;

private:
    JobReach(std::filesystem::path shared, const RunSpec& spec, std::string token, ServerProcess server);

    std::filesystem::path shared_;
    int node_, nodes_;
    std::string token_;
    ServerProcess server_;
    bool looked_ = false;
};

} // namespace fourfold
