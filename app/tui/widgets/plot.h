// SPDX-License-Identifier: GPL-3.0-or-later
// Lines and points in Braille cells (two by four dots each), with axes in words.
#pragma once

#include "app/tui/look.h"

#include <string>
#include <utility>
#include <vector>

namespace fourfold::tui {

struct PlotSeries {
    std::vector<std::pair<double, double>> points;
    Ink ink = Ink::blue;
    bool joined = true; // a line; else points
};

struct Plot {
    std::string title; // over it
    std::string x_label;
    std::string (*x_text)(double) = nullptr;
    std::string (*y_text)(double) = nullptr;
    std::vector<PlotSeries> series;
    bool from_zero = false; // the axis of y begins at 0
    std::pair<double, double> chosen{}; // marked, where has_chosen
    bool has_chosen = false;
};

void draw_plot(Canvas& canvas, const Rect& place, const Plot& plot, const Look& look);

} // namespace fourfold::tui
