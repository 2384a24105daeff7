// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runner/runs/run.h"

namespace fourfold {

// Clears the base folders of a target's hosts (runner/agent/garbage.h): one object a host with its counts, or with the
// `problem` that kept it from being cleared. Fails when it was stopped.
Expected<Json> clear_target(const Target& target, double older_than_s, bool dry_run, RunObserver& observer,
    std::stop_token stop, const std::filesystem::path& agent = {});

} // namespace fourfold
