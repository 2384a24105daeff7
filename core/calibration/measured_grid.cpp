// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/measured_grid.h"

#include "core/base/text.h"
#include "core/calibration/csv.h"
#include "core/model/flops.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

namespace fourfold {
namespace {

struct GridColumn {
    std::string_view name;
    int GridLayout::*field;
    bool needed;
};
constexpr std::array<GridColumn, 5> kColumns{
    {{"tp", &GridLayout::tp, true}, {"cp", &GridLayout::cp, true}, {"pp", &GridLayout::pp, true},
        {"micro_batch", &GridLayout::micro_batch, true}, {"virtual_stages", &GridLayout::virtual_stages, false}}};

std::string column_names()
{
    std::vector<std::string> names;
    for (const GridColumn& column : kColumns)
        names.emplace_back(column.name);
    return joined(names, ", ");
}

constexpr int kMostOfCell = 1 << 15;

std::optional<int> count_of(std::string_view text)
{
    const auto begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
    if (begin == std::string_view::npos)
        return std::nullopt;
    text = text.substr(begin, end - begin + 1);
    int value = 0;
    const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || at != text.data() + text.size() || value < 1 || value > kMostOfCell)
        return std::nullopt;
    return value;
}

Problem bad_cell(const std::string& where, int line, std::string_view column, std::string message)
{
    return {ProblemCode::bad_input, std::move(message), "",
        where + ":" + std::to_string(line) + ": " + std::string(column)};
}

Expected<std::vector<const GridColumn*>> read_head(const CsvRecord& head, const std::string& where)
{
    std::vector<const GridColumn*> columns;
    std::set<std::string_view> seen;
    for (const std::string& name : head.fields) {
        const auto found = std::find_if(
            kColumns.begin(), kColumns.end(), [&](const GridColumn& column) { return column.name == name; });
        if (found == kColumns.end())
            return bad_cell(where, head.line, name, "unknown column, expected " + column_names());
        if (!seen.insert(found->name).second)
            return bad_cell(where, head.line, name, "the column stands there twice");
        columns.push_back(&*found);
    }
    for (const GridColumn& column : kColumns) {
        if (column.needed && !seen.contains(column.name))
            return bad_cell(where, head.line, column.name, "the column is missing, expected " + column_names());
    }
    return columns;
}

bool same_model(const ModelShape& a, const ModelShape& b)
{
    return a.layers == b.layers && a.hidden == b.hidden && a.heads == b.heads && a.kv_heads == b.kv_heads
        && a.ffn == b.ffn && a.vocab == b.vocab;
}

MeasuredCell cell_of(const MeasuredRow& row)
{
    MeasuredCell cell;
    cell.status = row.status;
    cell.line = row.line;
    cell.step_time_s = row.step_time_s;
    cell.tps_per_gpu = row.tps_per_gpu;
    cell.memory_gib = row.memory_gib;
    if (!row.tps_per_gpu)
        return cell;
    const ResolvedPlan& plan = row.plan;
    if (!cell.step_time_s)
        cell.step_time_s = plan.tokens_per_step() / (*row.tps_per_gpu * plan.gpus);
    const std::int64_t seq_len = plan.training.seq_len;
    cell.tflops_per_gpu = *row.tps_per_gpu
        * reported_flops_per_token(plan.model, plan.padded_vocab, seq_len, plan.training.flop_convention) / 1e12;
    const double peak = plan.cluster.gpu.peak_flops(plan.training.precision);
    if (peak > 0)
        cell.mfu = *row.tps_per_gpu * model_flops_per_token(plan.model, seq_len) / peak;
    return cell;
}

} // namespace

Expected<std::vector<GridLayout>> read_grid_layouts(std::string_view text, const std::string& where)
{
    FOURFOLD_TRY(std::vector<CsvRecord> records, read_csv(text, where));
    std::erase_if(records, [](const CsvRecord& record) { return record.fields.front().starts_with('#'); });
    if (records.empty())
        return Problem{
            ProblemCode::bad_input, "the file holds nothing, expected a head line " + column_names(), "", where};
    FOURFOLD_TRY(const std::vector<const GridColumn*> columns, read_head(records.front(), where));
    std::vector<GridLayout> layouts;
    std::vector<Problem> problems;
    for (auto record = records.begin() + 1; record != records.end(); ++record) {
        GridLayout layout;
        if (record->fields.size() != columns.size()) {
            problems.push_back({ProblemCode::bad_input,
                "found " + std::to_string(record->fields.size()) + " cells, the head line has "
                    + std::to_string(columns.size()),
                "", where + ":" + std::to_string(record->line)});
            continue;
        }
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const std::string& cell = record->fields[i];
            if (cell.empty() && !columns[i]->needed)
                continue;
            const auto value = count_of(cell);
            if (!value)
                problems.push_back(bad_cell(where, record->line, columns[i]->name,
                    "found " + in_quotes(cell) + ", expected a whole number from 1 to " + std::to_string(kMostOfCell)));
            layout.*(columns[i]->field) = value.value_or(1);
        }
        layouts.push_back(layout);
    }
    if (!problems.empty()) {
        Problem first = std::move(problems.front());
        if (problems.size() > 1)
            first.hint = std::to_string(problems.size() - 1) + " more bad "
                + (problems.size() == 2 ? "cell follows" : "cells follow") + " in this file";
        return first;
    }
    if (layouts.empty())
        return Problem{ProblemCode::bad_input, "no layout follows the head line", "write one layout a line", where};
    return layouts;
}

Expected<std::vector<int>> read_grid_gpus(const std::string& text, const std::string& where)
{
    std::set<int> counts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        constexpr int kMostGpus = 1 << 20;
        int value = 0;
        const auto [at, error] = std::from_chars(text.data() + begin, text.data() + end, value);
        if (error != std::errc() || at != text.data() + end || value < 1 || value > kMostGpus)
            return Problem{ProblemCode::bad_input,
                "found " + in_quotes(text.substr(begin, end - begin)) + ", expected numbers of GPUs from 1 to "
                    + std::to_string(kMostGpus) + " such as 8,16,32",
                "", where};
        counts.insert(value);
        begin = end + 1;
    }
    return std::vector<int>(counts.begin(), counts.end());
}

std::optional<double> value_of(const MeasuredCell& cell, GridValue value)
{
    return cell.status == CellStatus::ok ? cell.get(value) : std::nullopt;
}

MeasuredGrid::MeasuredGrid(const MeasuredTable& table, const ResolvedPlan& base)
{
    for (const MeasuredRow& row : table.rows) {
        const ResolvedPlan& plan = row.plan;
        if (plan.gpus == 0 || !same_model(plan.model, base.model) || plan.cluster.gpu.id != base.cluster.gpu.id
            || plan.training.seq_len != base.training.seq_len || plan.training.precision != base.training.precision
            || plan.training.global_batch != base.training.global_batch
            || plan.training.sharding != base.training.sharding)
            continue;
        const GridLayout layout{
            plan.layout.tp, plan.layout.cp, plan.layout.pp, plan.training.micro_batch, plan.layout.virtual_stages};
        if (std::find(layouts_.begin(), layouts_.end(), layout) == layouts_.end())
            layouts_.push_back(layout);
        cells_.try_emplace({layout, plan.gpus}, cell_of(row));
    }
}

const MeasuredCell* MeasuredGrid::find(const GridLayout& layout, int gpus) const
{
    const auto found = cells_.find({layout, gpus});
    return found == cells_.end() ? nullptr : &found->second;
}

std::vector<int> MeasuredGrid::gpus() const
{
    std::set<int> counts;
    for (const auto& [key, cell] : cells_)
        counts.insert(key.second);
    return {counts.begin(), counts.end()};
}

GridAgreement agreement(const LayoutGrid& grid, const MeasuredGrid& measured, GridValue value)
{
    GridAgreement out;
    double sum = 0;
    for (std::size_t row = 0; row < grid.layouts.size(); ++row) {
        for (std::size_t column = 0; column < grid.gpus.size(); ++column) {
            const GridCell& predicted = grid.cells[row][column];
            const MeasuredCell* cell = measured.find(grid.layouts[row], grid.gpus[column]);
            if (!cell)
                continue;
            if (cell->status == CellStatus::ok || cell->status == CellStatus::oom) {
                ++out.verdicts;
                const bool ran = cell->status == CellStatus::ok;
                out.verdicts_right += ran == (predicted.status == GridStatus::runs) ? 1 : 0;
            }
            const auto mine = value_of(predicted, value), theirs = value_of(*cell, value);
            if (!mine || !theirs || !(*theirs > 0))
                continue;
            const double error = std::abs(*mine / *theirs - 1);
            ++out.compared;
            sum += error;
            out.largest_error = std::max(out.largest_error, error);
        }
    }
    out.mean_error = out.compared > 0 ? sum / out.compared : 0;
    return out;
}

} // namespace fourfold
