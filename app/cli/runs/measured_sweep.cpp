// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/runs/measured_sweep.h"

#include "app/cli/runs/stop_signals.h"
#include "core/base/input_file.h"
#include "core/calibration/measured_grid.h"
#include "runner/sweep/preview_sweep.h"
#include "runner/sweep/sweep_table.h"

#include <iostream>

namespace fourfold::cli {

Expected<int> run_measured_sweep(const SweepOptions& options, SweepRequest request, RunProgress& progress)
{
    FOURFOLD_TRY(const auto format, options.format.format());
    FOURFOLD_TRY(const auto text, read_input(options.layouts, 1u << 20));
    FOURFOLD_TRY(auto layouts, read_grid_layouts(text, options.layouts));
    FOURFOLD_TRY(auto gpus, read_grid_gpus(options.gpus, "--gpus"));
    request.layouts = std::move(layouts);
    request.gpus = std::move(gpus);
    request.skip_unfit = options.skip_unfit;
    request.again = options.again;
    if (options.dry_run) {
        FOURFOLD_TRY(const auto preview, preview_sweep(request));
        if (format == TableFormat::json)
            print_json(preview.document);
        else
            std::cout << preview.text;
        return kDone;
    }
    const auto sweep = [&] {
        const StopSignals signals("stopping the sweep; the same command goes on with it");
        return measure_sweep(request, progress, signals.token(), [](const SweepTable& known, const std::string& next) {
            std::cerr << "\n"
                      << sweep_table(known).write(TableFormat::text) << (next.empty() ? "" : "next: " + next + "\n")
                      << std::flush;
        });
    }();
    if (!sweep)
        return fail(sweep.error());
    const bool for_programs = format == TableFormat::json || format == TableFormat::csv;
    std::cout << (for_programs ? sweep_cells(*sweep) : sweep_table(*sweep)).write(format) << std::flush;
    std::cerr << "cells are kept in " << sweep->record.string() << "\n";
    if (sweep->stopped)
        return kFailed;
    int left = 0;
    const CellResult* first = nullptr;
    for (const auto& row : sweep->cells) {
        for (const auto& cell : row) {
            if (!cell || cell->final())
                continue;
            ++left;
            first = first ? first : &*cell;
        }
    }
    if (!first)
        return kDone;
    return fail({ProblemCode::failed,
        std::to_string(left) + (left == 1 ? " cell was" : " cells were")
            + " not measured: " + (first->why.empty() ? first->status : first->why),
        "the same command tries again", options.layouts});
}

} // namespace fourfold::cli
