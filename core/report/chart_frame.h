// SPDX-License-Identifier: GPL-3.0-or-later
// What stands around every chart, and the painters of each kind.
#pragma once

#include "core/report/chart.h"

namespace fourfold::drawing {

struct ChartArea {
    double x = 0, y = 0, width = 0, height = 0;
};
// Title, note and legend over a white ground; the rest of the picture.
ChartArea paint_chart_frame(cairo_t* cairo, const std::string& title, const std::string& note,
    const std::vector<ChartKind>& kinds, const PictureSize& size);
// "1 GiB" at the left of a line across, at even steps up to `high`.
void paint_y_axis(cairo_t* cairo, const ChartArea& area, double low, double high, const ChartText& text);

void paint_plot(cairo_t* cairo, const PlotChart& chart, const PictureSize& size);
void paint_bars(cairo_t* cairo, const BarChart& chart, const PictureSize& size);
void paint_area(cairo_t* cairo, const AreaChart& chart, const PictureSize& size);
void paint_tiles(cairo_t* cairo, const TileChart& chart, const PictureSize& size);
PictureSize bars_size(const BarChart& chart);
PictureSize tiles_size(const TileChart& chart);

} // namespace fourfold::drawing
