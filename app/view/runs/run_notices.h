// SPDX-License-Identifier: GPL-3.0-or-later
// What is told of a run to somebody who looks elsewhere, as a notification of the desktop or of the terminal: what its
// own watch reports, and how it ended.
#pragma once

#include "app/view/runs/live_run.h"

#include <chrono>
#include <optional>
#include <string>

namespace fourfold::view {

struct RunNotice {
    std::string title; // "Run ended: Done"
    std::string text; // which, how fast, why
    bool urgent = false; // it does not go well
};
RunNotice run_end_notice(const LiveRun& run);

// A loss that stands out seldom does so once: one notice a minute, which says how many there were meanwhile. One that
// ends the run is told at once; what happened before the run was caught up with is not.
class AlertNotices {
public:
    using Clock = std::chrono::steady_clock;
    void begin() { *this = {}; } // another run
    std::optional<RunNotice> take(
        const RunAlert& alert, const std::string& title_of_run, Clock::time_point now = Clock::now());

private:
    std::optional<Clock::time_point> told_; // the last one
    int untold_ = 0; // since that
};

} // namespace fourfold::view
