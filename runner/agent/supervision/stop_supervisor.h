// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runner/agent/run/run_folder.h"

#include <functional>
#include <optional>
#include <string>

namespace fourfold {

// Tells the supervisor of a run on this host to end its ranks, whatever the run folder says. One that a signal has
// stopped is woken; one that does not answer within 5 s is killed with every process of the run, and the run is closed
// where its folder allows that. `meanwhile` is called often while that takes its time. What was done beyond telling it,
// in words; nothing where there is no supervisor.
std::optional<std::string> tell_supervisor(const RunFolder& folder, const std::string& run, int node,
    const StopRequest& stop, const std::function<void()>& meanwhile);

// For a run whose supervisor is dead while something keeps its folder locked: that is the supervisor's guardian, which
// hangs. Kills it.
void end_guardian(const RunFolder& folder);

} // namespace fourfold
