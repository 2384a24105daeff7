// SPDX-License-Identifier: GPL-3.0-or-later
// Lines and points in Braille cells (two by four dots each), with axes in words.
#pragma once

#include "app/tui/look.h"
#include "app/tui/terminal/key.h"
#include "core/report/chart.h"
#include "core/report/chart_range.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fourfold::tui {

// A chart with what a terminal knows of it besides.
struct Plot {
    struct SeriesLook {
        Ink ink = Ink::blue;
        // Stands beside the end of the line, at the right edge; of points, at each of them. 0: none
        char32_t mark = 0;
    };
    PlotChart chart; // as a file has it, too; the colours of its series are those of their inks
    std::vector<SeriesLook> looks; // one a series
    std::string key; // what its marks mean, behind the title; a file has its series by their names
    std::optional<double> cursor; // of x, a line from top to bottom

    void add(std::string name, ChartPoints points, ChartSeries::Look look, Ink ink, char32_t mark = 0);
};

// Where a plot was drawn, for what the mouse points at.
struct PlotPlace {
    Rect cells; // of the points; without rows where there was nothing to draw
    ChartRange x, y;

    [[nodiscard]] double x_at(int column) const; // the middle of the cell
    // How far a point is from the middle of a cell, in dots of Braille, of which a cell has two by four: across, down.
    [[nodiscard]] std::pair<double, double> distance(double at_x, double at_y, int row, int column) const;
};

// The one under the mouse; null: none.
const PlotPlace* plot_at(const std::vector<PlotPlace>& plots, const Key& key);

PlotPlace draw_plot(Canvas& canvas, const Rect& place, const Plot& plot, const Look& look);

} // namespace fourfold::tui
