// SPDX-License-Identifier: GPL-3.0-or-later
// Grids of layouts beside measured tables, and the file of layouts that a grid is made of.
#pragma once

#include "core/calibration/measured_table.h"
#include "core/search/sweep.h"

#include <map>

namespace fourfold {

// CSV with a head line of tp, cp, pp, micro_batch and, if wanted, virtual_stages, in any order; lines that begin with #
// are left out. The Problem names file, line and column of the first bad cell and says how many more there are.
Expected<std::vector<GridLayout>> read_grid_layouts(std::string_view text, const std::string& where);
// "8,16,32": ascending, each once.
Expected<std::vector<int>> read_grid_gpus(const std::string& text, const std::string& where);

// What a measured table says about a cell.
struct MeasuredCell : GridFigures {
    CellStatus status = CellStatus::not_run;
    int line = 0; // of the table's file
};
std::optional<double> value_of(const MeasuredCell& cell, GridValue value);

// The rows of a table that were measured on the plan's model and GPU, with its sequence length, global batch, precision
// and sharding.
class MeasuredGrid {
public:
    MeasuredGrid(const MeasuredTable& table, const ResolvedPlan& base);
    [[nodiscard]] const MeasuredCell* find(const GridLayout& layout, int gpus) const; // null where there is none
    [[nodiscard]] const std::vector<GridLayout>& layouts() const { return layouts_; } // in the order of the table
    [[nodiscard]] std::vector<int> gpus() const; // ascending
    [[nodiscard]] std::size_t size() const { return cells_.size(); }

private:
    std::vector<GridLayout> layouts_;
    std::map<std::pair<GridLayout, int>, MeasuredCell> cells_;
};

// A predicted grid against a measured one.
struct GridAgreement {
    int compared = 0; // cells with a value on both sides
    double mean_error = 0; // mean of |predicted / measured - 1| over those
    double largest_error = 0;
    int verdicts = 0, verdicts_right = 0; // cells that ran or ran out of memory; "runs" and "does not" told right
};
GridAgreement agreement(const LayoutGrid& grid, const MeasuredGrid& measured, GridValue value);

} // namespace fourfold
