// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/text/progress_line.h"

#include "app/cli/text/predict_text.h"
#include "app/cli/text/printable_output.h"
#include "core/base/seconds.h"
#include "core/report/table/table.h"
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
    if (terminal_ && shown_ >= 0)
        overwrite_line("");
}

void ProgressLine::show(double share, const std::string& done)
{
    const int percent = int(share * 100);
    if (percent == shown_)
        return;
    shown_ = percent;
    const double seconds = seconds_since(start_);
    if (!terminal_ && !lines_.due(seconds))
        return;
    const auto left = seconds_left(share, seconds);
    const std::string line = std::to_string(percent) + " %, " + done
        + (left ? ", " + duration_text(std::ceil(*left)) + " left" : std::string());
    if (terminal_)
        overwrite_line(line);
    else
        std::cerr << "fourfold: " << line << std::endl;
}

SearchObserver ProgressLine::of_search()
{
    return {nullptr, [this](double share, const SearchCounts& counts) {
                show(share, shown_number(double(counts.enumerated), 0) + " layouts");
            }};
}

} // namespace fourfold::cli
