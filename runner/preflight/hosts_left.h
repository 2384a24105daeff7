// SPDX-License-Identifier: GPL-3.0-or-later
// Which hosts of a target a run can go on with after it failed: those that answer, have nothing wrong and reach each
// other.
#pragma once

#include "runner/nodes/run_observer.h"
#include "runner/target/target.h"

#include <cstddef>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace fourfold {

struct HostsLeft {
    struct Host {
        std::size_t index = 0; // in the target
        double memory_gib = 0; // 0 = not known
    };
    std::vector<Host> hosts; // in the target's order
    struct Lost {
        std::size_t index = 0;
        std::string name, why; // why: "port: no answer within 10 s"
    };
    std::vector<Lost> lost; // likewise
};

// A run whose ranks may still be on some of the hosts.
struct EarlierRun {
    std::string id;
    std::vector<std::size_t> hosts; // of each of its nodes, in the target
};

struct HostsQuestion {
    Target target; // over SSH
    std::vector<int> ranks; // that each host is to hold
    bool on_gpus = false;
    std::vector<EarlierRun> earlier; // what is left of these on a host is ended first
    std::filesystem::path agent;
};

// Connects to every host at once and looks at it as before a run (errors count, not warnings; a target without
// preflight is only connected). A host where an earlier run's ranks cannot be ended is lost; of two that do not reach
// each other the one that misses more of the others. `cancelled` after `stop`.
Expected<HostsLeft> hosts_left(const HostsQuestion& question, RunObserver& observer, const std::stop_token& stop);

} // namespace fourfold
