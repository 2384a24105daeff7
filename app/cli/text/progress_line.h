// SPDX-License-Identifier: GPL-3.0-or-later
// How far a command is and how long it goes on: one line on a terminal's standard error that is written over.
#pragma once

#include <chrono>
#include <string>

namespace fourfold::cli {

class ProgressLine {
public:
    ProgressLine();
    ~ProgressLine(); // the line is gone
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    // "37 %, 1,204 layouts, 12 s left"; nothing where standard error is no terminal.
    void show(double share, const std::string& done);

private:
    bool terminal_;
    int shown_ = -1; // percent
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace fourfold::cli
