// SPDX-License-Identifier: GPL-3.0-or-later
// Rows that say of which release of a software they are: what became slower from one to the next.
#pragma once

#include "core/calibration/measured_table.h"

#include <string>
#include <vector>

namespace fourfold {

// One line for each set-up (the same plan and the same stand-ins) that a release runs slower, by more than runs
// scatter, than the release before it that has the set-up.
std::vector<std::string> slower_releases(const std::vector<MeasuredRow>& rows);

// One line for each release that its stack does not know.
std::vector<std::string> unknown_releases(const std::vector<MeasuredRow>& rows);

} // namespace fourfold
