// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/sweep/sweep_table.h"

#include <algorithm>
#include <cctype>

namespace fourfold {

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

std::vector<Cell> layout_cells(const GridLayout& layout)
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
                cells.push_back(text_cell(text));
            cells.push_back(cell(result.tps_per_gpu));
            cells.push_back(cell(result.predicted_tps_per_gpu));
            for (const std::string& text : {result.run, result.why})
                cells.push_back(text_cell(text));
            table.rows.push_back(std::move(cells));
        }
    }
    return table;
}

} // namespace fourfold
