// SPDX-License-Identifier: GPL-3.0-or-later
// How a run ended, for somebody who looks elsewhere: a notification of the desktop or of the terminal.
#pragma once

#include "app/view/runs/live_run.h"

#include <string>

namespace fourfold::view {

struct RunEndWords {
    std::string title; // "Run ended: Done"
    std::string text; // which, how fast, why
    bool urgent = false; // it did not go well
};
RunEndWords run_end_words(const LiveRun& run);

} // namespace fourfold::view
