// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runner/nodes/run_observer.h"
#include "runner/target/target.h"

#include <stop_token>

namespace fourfold {

struct ClearOrder {
    double older_than_s = 30 * 86400.0; // what was used later stays
    bool dry_run = false;
    bool end_processes = false; // what lives without a run (runner/agent/supervision/strays.h) is ended
};

// Clears the base folders of a target's hosts (runner/agent/files/garbage.h): one object per host with its counts and
// its "strays", or with the `problem` that kept it from being cleared. Fails when it was stopped.
Expected<Json> clear_target(const Target& target, const ClearOrder& order, RunObserver& observer, std::stop_token stop,
    const std::filesystem::path& agent = {});

} // namespace fourfold
