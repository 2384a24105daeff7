// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold run --sweep`: the table of a measured sweep, live and at its end.
#pragma once

#include "app/cli/command.h"
#include "app/cli/runs/run_progress.h"
#include "runner/sweep/measured_sweep.h"

namespace fourfold::cli {

struct SweepOptions {
    std::string layouts, gpus; // FILE and "4,8,16"
    bool skip_unfit = false, again = false, dry_run = false;
    FormatOptions format;
};

// Runs every cell that is not measured yet, or says what it would do; the exit status.
Expected<int> run_measured_sweep(const SweepOptions& options, SweepRequest request, RunProgress& progress);

} // namespace fourfold::cli
