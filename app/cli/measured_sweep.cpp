// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/measured_sweep.h"

#include "app/cli/stop_signals.h"

#include <algorithm>
#include <cctype>
#include <iostream>

namespace fourfold::cli {

namespace {

std::string shown_status(const CellResult& cell)
{
    if (cell.status == "impossible" || cell.status == "unfit")
        return "-";
    std::string out = cell.status;
    std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::toupper(c); });
    return out;
}

std::vector<Column> layout_columns()
{
    return {
        {"tp", "TP"}, {"cp", "CP"}, {"pp", "PP"}, {"micro_batch", "micro-batch"}, {"virtual_stages", "virtual stages"}};
}

std::vector<Cell> layout_cells(const SweepLayout& layout)
{
    return {std::int64_t{layout.tp}, std::int64_t{layout.cp}, std::int64_t{layout.pp}, std::int64_t{layout.micro_batch},
        std::int64_t{layout.virtual_stages}};
}

} // namespace

Table sweep_table(const SweepTable& sweep)
{
    Table table{layout_columns(), {}};
    for (const int gpus : sweep.gpus)
        table.columns.push_back({"gpus_" + std::to_string(gpus), std::to_string(gpus) + " GPUs"});
    for (std::size_t row = 0; row < sweep.layouts.size(); ++row) {
        auto cells = layout_cells(sweep.layouts[row]);
        for (const auto& result : sweep.cells[row]) {
            if (!result)
                cells.emplace_back();
            else if (result->tps_per_gpu)
                cells.emplace_back(*result->tps_per_gpu);
            else
                cells.emplace_back(shown_status(*result));
        }
        table.rows.push_back(std::move(cells));
    }
    return table;
}

Table sweep_cells(const SweepTable& sweep)
{
    Table table{layout_columns(), {}};
    for (const char* key : {"gpus", "status", "tps_per_gpu", "predicted_tps_per_gpu", "run", "why"})
        table.columns.push_back({key});
    for (std::size_t row = 0; row < sweep.layouts.size(); ++row) {
        for (std::size_t column = 0; column < sweep.gpus.size(); ++column) {
            auto cells = layout_cells(sweep.layouts[row]);
            cells.emplace_back(std::int64_t{sweep.gpus[column]});
            const CellResult result = sweep.cells[row][column].value_or(CellResult{});
            for (const std::string& text : {result.status})
                cells.emplace_back(text.empty() ? Cell() : Cell(text));
            cells.push_back(cell(result.tps_per_gpu));
            cells.push_back(cell(result.predicted_tps_per_gpu));
            for (const std::string& text : {result.run, result.why})
                cells.emplace_back(text.empty() ? Cell() : Cell(text));
            table.rows.push_back(std::move(cells));
        }
    }
    return table;
}

int run_measured_sweep(const SweepOptions& options, SweepRequest request, RunProgress& progress)
{
    const auto format = options.format.format();
    if (!format)
        return fail(format.error());
    const auto text = read_text_file(options.layouts, 1u << 20);
    if (!text)
        return fail(text.error());
    auto layouts = read_layouts(*text, options.layouts);
    if (!layouts)
        return fail(layouts.error());
    auto gpus = read_gpu_counts(options.gpus);
    if (!gpus)
        return fail(gpus.error());
    request.layouts = *std::move(layouts);
    request.gpus = *std::move(gpus);
    request.skip_unfit = options.skip_unfit;
    request.again = options.again;
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
    const bool for_programs = *format == TableFormat::json || *format == TableFormat::csv;
    std::cout << (for_programs ? sweep_cells(*sweep) : sweep_table(*sweep)).write(*format) << std::flush;
    std::cerr << "cells are kept in " << sweep->record.string() << "\n";
    return sweep->stopped ? kFailed : kDone;
}

} // namespace fourfold::cli
