// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runner/sweep/measured_sweep.h"

namespace fourfold {

// What measure_sweep() would do, without doing it: for each cell whether it would run, on how many hosts, with what
// prediction, or why not; then the files and commands of the first run.
Expected<LaunchPreview> preview_sweep(const SweepRequest& request);

} // namespace fourfold
