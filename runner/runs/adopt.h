// SPDX-License-Identifier: GPL-3.0-or-later
// A run that another computer launched, taken into this one's history so that attach() can follow it.
#pragma once

#include "runner/runs/run.h"

namespace fourfold {

// Looks for the run (the beginning of its id, or "last") on the hosts of `target`, in any order, and creates it in the
// history with its plan, a prediction made here and its hosts; returns its full id. A run that the history has already
// is left as it is; where this computer cannot tell its nodes any more, it can again.
Expected<std::string> adopt(const std::string& run, const Target& target, RunObserver& observer, std::stop_token stop,
    const std::filesystem::path& history_file = {}, const std::filesystem::path& agent = {});

} // namespace fourfold
