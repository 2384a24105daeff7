// SPDX-License-Identifier: GPL-3.0-or-later
// Layouts x numbers of GPUs as a picture shows them: predicted, measured, or the error between the two; or a sweep that
// is being measured, cell by cell.
#pragma once

#include "core/calibration/measured_grid.h"
#include "runner/sweep/measured_sweep.h"

#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace fourfold::ui {

struct HeatCell {
    enum class State { value, failed, impossible, waiting };
    State state = State::impossible;
    std::optional<double> value; // decides the colour
    QString text; // in the cell
    QString tip; // all that is known of it
};

struct HeatGrid {
    QStringList rows, columns; // layouts, numbers of GPUs
    std::vector<std::vector<HeatCell>> cells; // [row][column]
    // Around 0 (errors), so that the two directions have hues of their own; else from the least to the greatest.
    bool diverging = false;
    QString unit;

    [[nodiscard]] const HeatCell* at(int row, int column) const; // null outside
};

enum class HeatShow { predicted, measured, error };

// "tp 2, cp 1, pp 4, mb 1", with virtual stages where there are.
QString layoutName(const GridLayout& layout);
// Words for a value and its unit: "TPS/GPU", "TFLOP/s per GPU" ...
QString gridValueLabel(GridValue value);

// `measured` may be null: then only HeatShow::predicted has values.
HeatGrid heatOf(const LayoutGrid& grid, GridValue value, const MeasuredGrid* measured, HeatShow show);
// Tokens/s per GPU of a sweep under way; `next` is the key of the cell that runs.
HeatGrid heatOf(const SweepTable& table, HeatShow show, const std::string& next);

} // namespace fourfold::ui
