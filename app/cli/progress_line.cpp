// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/progress_line.h"

#include "app/cli/predict_text.h"
#include "core/search/search_cost.h"

#include <unistd.h>

#include <cmath>
#include <iostream>

namespace fourfold::cli {

ProgressLine::ProgressLine()
    : terminal_(isatty(STDERR_FILENO) != 0)
{
}

ProgressLine::~ProgressLine()
{
    if (shown_ >= 0)
        std::cerr << "\r\033[K" << std::flush;
}

void ProgressLine::show(double share, const std::string& done)
{
    const int percent = int(share * 100);
    if (!terminal_ || percent == shown_)
        return;
    shown_ = percent;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const auto left = seconds_left(share, seconds);
    std::cerr << "\r\033[K" << percent << " %, " << done
              << (left ? ", " + duration_text(std::ceil(*left)) + " left" : "") << std::flush;
}

} // namespace fourfold::cli
