// SPDX-License-Identifier: GPL-3.0-or-later
// A measured sweep: one run per cell on the target, whatever happens to a cell.
#pragma once

#include "runner/runs/run.h"
#include "runner/sweep/cells.h"
#include "runner/sweep/sweep_record.h"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace fourfold {

struct SweepRequest {
    Plan plan;
    std::vector<GridLayout> layouts;
    std::vector<int> gpus;
    Target target;
    std::optional<int> steps;
    bool skip_unfit = false; // cells that are predicted not to fit are not run
    bool again = false; // forget what an earlier sweep measured
    std::filesystem::path trainer, agent, history_file; // as in RunRequest
};

// What an earlier sweep of the same request has measured; empty with `again`.
Expected<SweepRecord> open_record(const SweepRequest& request);

struct SweepTable {
    std::vector<GridLayout> layouts;
    std::vector<int> gpus;
    std::vector<std::vector<std::optional<CellResult>>> cells; // [layout][gpus]; nothing = not reached yet
    std::filesystem::path record;
    bool stopped = false;
};

// Runs what is not known yet, GPU count by GPU count. `done` is called before each cell and after the last one with
// what is known then; `next` names the cell (SweepCell::name), empty after the last one. A stop request cancels the
// cell that runs and ends the sweep; asked again it goes on.
Expected<SweepTable> measure_sweep(const SweepRequest& request, RunObserver& observer, std::stop_token stop,
    const std::function<void(const SweepTable&, const std::string& next)>& done);

} // namespace fourfold
