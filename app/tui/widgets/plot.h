// SPDX-License-Identifier: GPL-3.0-or-later
// Lines and points in Braille cells (two by four dots each), with axes in words.
#pragma once

#include "app/tui/look.h"
#include "core/report/chart.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fourfold::tui {

struct PlotSeries {
    std::vector<std::pair<double, double>> points;
    Ink ink = Ink::blue;
    bool joined = true; // a line; else points
    bool faint = false; // of a line every third dot
    // Stands beside the end of the line, at the right edge; of points, at each of them. 0: none
    char32_t mark = 0;
    std::string name{}; // in the legend of a picture; empty: none
};

struct Plot {
    std::string title; // over it
    std::string note; // at the right of the title
    std::string x_label;
    std::string (*x_text)(double) = nullptr;
    std::string (*y_text)(double) = nullptr;
    std::vector<PlotSeries> series; // points in order of x
    std::optional<std::pair<double, double>> x_range; // lines are cut at its ends; empty: of all points
    std::optional<std::pair<double, double>> band; // of y, shaded from side to side
    std::optional<double> level; // of y, a broken line from side to side
    std::optional<double> cursor; // of x, a line from top to bottom
    bool from_zero = false; // the axis of y begins at 0
    bool whole_x = false; // between two whole numbers there is nothing
    std::pair<double, double> chosen{}; // marked, where has_chosen
    bool has_chosen = false;
};

void draw_plot(Canvas& canvas, const Rect& place, const Plot& plot, const Look& look);
// The same for a file.
PlotChart picture_of(const Plot& plot);

} // namespace fourfold::tui
