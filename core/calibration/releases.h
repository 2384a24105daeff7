// SPDX-License-Identifier: GPL-3.0-or-later
// Tables whose parts are releases of one software: what became slower from one release to the next.
#pragma once

#include "core/calibration/measured_table.h"

#include <string>
#include <vector>

namespace fourfold {

// "25.09" before "25.11" before "26.02" before "26.02.01": by the numbers in it, whatever stands around them.
bool is_earlier_release(const std::string& a, const std::string& b);

// One line for each set-up (the same plan and the same stand-ins) that a release runs slower, by more than runs
// scatter, than the release before it that has the set-up.
std::vector<std::string> slower_releases(const std::vector<MeasuredRow>& rows, const TableSources& sources);

} // namespace fourfold
