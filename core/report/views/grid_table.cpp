// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/views/grid_table.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace fourfold {

namespace {

Column value_column(GridValue value, const std::string& key, const std::string& title)
{
    switch (value) {
    case GridValue::tps_per_gpu:
        return {key, title};
    case GridValue::tflops_per_gpu:
    case GridValue::memory_gib:
        return {key, title, 1};
    case GridValue::mfu:
        return {key, title, 1, 100, " %"};
    case GridValue::step_time_s:
        break;
    }
    return {key, title, 2};
}

std::string value_words(const std::optional<double>& value, GridValue kind)
{
    return shown(cell(value), value_column(kind, "", ""));
}

std::string status_words(const MeasuredCell& measured)
{
    if (measured.status == CellStatus::not_run)
        return "";
    std::string word(name(measured.status));
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::toupper(c); });
    return word;
}

// "447.1 / 455.0 (-1.7 %)", "- / OOM", "447.1" where nothing was measured.
std::string both_words(const GridCell& predicted, const MeasuredCell* measured, GridValue kind)
{
    const auto mine = value_of(predicted, kind);
    std::string text = value_words(mine, kind);
    if (!measured || measured->status == CellStatus::not_run)
        return text;
    const auto theirs = value_of(*measured, kind);
    if (!theirs)
        return text + " / " + status_words(*measured);
    text += " / " + value_words(theirs, kind);
    if (mine) {
        const double error = 100 * (*mine / *theirs - 1);
        text += " (" + std::string(error >= 0 ? "+" : "") + shown_number(error, 1) + " %)";
    }
    return text;
}

std::vector<Column> layout_columns(const LayoutGrid& grid)
{
    std::vector<Column> columns{{"tp", "TP"}, {"cp", "CP"}, {"pp", "PP"}, {"micro_batch", "MBS"}};
    if (std::any_of(grid.layouts.begin(), grid.layouts.end(),
            [](const GridLayout& layout) { return layout.virtual_stages > 1; }))
        columns.push_back({"virtual_stages", "VPP"});
    return columns;
}

Json figures_json(const GridFigures& cell)
{
    const auto known = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
    return {{"step_time_s", known(cell.step_time_s)}, {"tps_per_gpu", known(cell.tps_per_gpu)},
        {"tflops_per_gpu", known(cell.tflops_per_gpu)}, {"mfu", known(cell.mfu)},
        {"memory_gib", known(cell.memory_gib)}};
}

Json cell_json(const GridCell& cell, int gpus, GridValue value)
{
    const auto shown_value = value_of(cell, value);
    Json json{{"gpus", gpus}, {"status", name(cell.status)}, {"value", shown_value ? Json(*shown_value) : Json()}};
    json.update(figures_json(cell));
    json["memory_device_gib"] = cell.memory_device_gib ? Json(*cell.memory_device_gib) : Json();
    json["evidence"] = name(cell.evidence);
    if (cell.status != GridStatus::runs)
        json["reason"] = {{"code", cell.reason.code}, {"message", cell.reason.message}};
    return json;
}

} // namespace

Table grid_table(const LayoutGrid& grid, GridValue value, const MeasuredGrid* measured, TableFormat format)
{
    const bool for_people = format != TableFormat::csv;
    Table table;
    table.columns = layout_columns(grid);
    const bool virtual_stages = table.columns.size() > 4;
    for (const int gpus : grid.gpus) {
        const std::string key = "gpus_" + std::to_string(gpus);
        table.columns.push_back(value_column(value, key, std::to_string(gpus) + " GPUs"));
        if (measured && !for_people) {
            table.columns.push_back({key + "_measured"});
            table.columns.push_back({key + "_status"});
            table.columns.push_back({key + "_error"});
        }
    }
    for (std::size_t row = 0; row < grid.layouts.size(); ++row) {
        const GridLayout& layout = grid.layouts[row];
        std::vector<Cell> cells{std::int64_t(layout.tp), std::int64_t(layout.cp), std::int64_t(layout.pp),
            std::int64_t(layout.micro_batch)};
        if (virtual_stages)
            cells.emplace_back(std::int64_t(layout.virtual_stages));
        for (std::size_t column = 0; column < grid.gpus.size(); ++column) {
            const GridCell& predicted = grid.cells[row][column];
            const MeasuredCell* other = measured ? measured->find(layout, grid.gpus[column]) : nullptr;
            const auto mine = value_of(predicted, value);
            if (!measured) {
                cells.push_back(cell(mine));
                continue;
            }
            if (for_people) {
                cells.emplace_back(both_words(predicted, other, value));
                continue;
            }
            const auto theirs = other ? value_of(*other, value) : std::nullopt;
            cells.push_back(cell(mine));
            cells.push_back(cell(theirs));
            cells.push_back(other ? Cell(std::string(name(other->status))) : Cell());
            cells.push_back(mine && theirs ? Cell(*mine / *theirs - 1) : Cell());
        }
        table.rows.push_back(std::move(cells));
    }
    return table;
}

std::string agreement_text(const LayoutGrid& grid, const MeasuredGrid& measured, GridValue value)
{
    const GridAgreement found = agreement(grid, measured, value);
    std::string out = "predicted / measured, " + std::string(name(value)) + ": ";
    out += found.compared == 0 ? "no cell has both"
                               : "mean error " + shown_number(100 * found.mean_error, 1) + " %, largest "
            + shown_number(100 * found.largest_error, 1) + " % over " + std::to_string(found.compared) + " cells";
    return out + "; " + std::to_string(found.verdicts_right) + " of " + std::to_string(found.verdicts)
        + " verdicts right (runs, out of memory)\n";
}

Json grid_json(const LayoutGrid& grid, GridValue value, const MeasuredGrid* measured)
{
    Json json{{"value", name(value)}, {"gpus", grid.gpus}, {"rows", Json::array()}};
    for (std::size_t row = 0; row < grid.layouts.size(); ++row) {
        const GridLayout& layout = grid.layouts[row];
        Json cells = Json::array();
        for (std::size_t column = 0; column < grid.gpus.size(); ++column) {
            cells.push_back(cell_json(grid.cells[row][column], grid.gpus[column], value));
            const MeasuredCell* other = measured ? measured->find(layout, grid.gpus[column]) : nullptr;
            if (!other)
                continue;
            Json beside{{"status", name(other->status)}, {"line", other->line}};
            beside.update(figures_json(*other));
            const auto mine = value_of(grid.cells[row][column], value), theirs = value_of(*other, value);
            beside["error"] = mine && theirs ? Json(*mine / *theirs - 1) : Json();
            cells.back()["measured"] = std::move(beside);
        }
        json["rows"].push_back(
            {{"tp", layout.tp}, {"cp", layout.cp}, {"pp", layout.pp}, {"micro_batch", layout.micro_batch},
                {"virtual_stages", layout.virtual_stages}, {"cells", std::move(cells)}});
    }
    if (measured) {
        const GridAgreement found = agreement(grid, *measured, value);
        json["agreement"]
            = {{"compared", found.compared}, {"mean_error", found.mean_error}, {"largest_error", found.largest_error},
                {"verdicts", found.verdicts}, {"verdicts_right", found.verdicts_right}};
    }
    return json;
}

} // namespace fourfold
