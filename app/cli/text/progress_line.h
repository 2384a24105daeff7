// SPDX-License-Identifier: GPL-3.0-or-later
// How far a command is and how long it goes on: one line on a terminal's standard error that is written over;
// elsewhere, as in a log, a few lines that stay.
#pragma once

#include "core/search/search.h"

#include <chrono>
#include <string>

namespace fourfold::cli {

// When a line is due where lines stay: after ten seconds, then whenever as long has gone by once more.
class RareLines {
public:
    bool due(double seconds)
    {
        if (seconds < next_s_)
            return false;
        next_s_ = 2 * seconds;
        return true;
    }

private:
    double next_s_ = 10;
};

class ProgressLine {
public:
    ProgressLine();
    ~ProgressLine(); // the line is gone
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    // "37 %, 1,204 layouts, 12 s left".
    void show(double share, const std::string& done);
    // Shows how far a search is; the line must outlive it.
    SearchObserver of_search();

private:
    bool terminal_;
    int shown_ = -1; // percent
    RareLines lines_; // where standard error is no terminal
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace fourfold::cli
