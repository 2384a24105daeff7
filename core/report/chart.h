// SPDX-License-Identifier: GPL-3.0-or-later
// What a chart shows, free of who draws it, and the charts as pictures.
#pragma once

#include "core/report/picture_file.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace fourfold {

// Okabe and Ito's palette and a grey, told apart with any kind of colour vision; 0xRRGGBB.
namespace okabe {
inline constexpr unsigned kBlue = 0x0072B2, kOrange = 0xE69F00, kGreen = 0x009E73, kVermilion = 0xD55E00,
                          kPurple = 0xCC79A7, kSky = 0x56B4E9, kYellow = 0xF0E442, kGrey = 0x5F5F5F;
} // namespace okabe

using ChartPoints = std::vector<std::pair<double, double>>;
using ChartText = std::function<std::string(double)>; // of a value, for its axis

struct ChartSeries {
    enum class Look { line, faint, dashed, dots };
    std::string name; // in the legend; may be empty
    unsigned rgb = okabe::kBlue;
    Look look = Look::line;
    ChartPoints points; // lines: in order of x
};

// Lines and points over an axis.
struct PlotChart {
    std::string title, note;
    std::string x_label;
    ChartText x_text, y_text;
    std::vector<ChartSeries> series;
    std::optional<std::pair<double, double>> x_range; // what lies beyond is cut; empty: of all points
    std::optional<std::pair<double, double>> band; // of y, shaded from side to side
    std::optional<double> level; // of y, a broken line from side to side
    bool from_zero = false; // the axis of y begins at 0
    bool whole_x = false; // between two whole numbers there is nothing
    std::optional<std::pair<double, double>> chosen; // marked
};

struct ChartKind {
    std::string name; // in the legend
    unsigned rgb = okabe::kBlue;
    bool pale = false;
};
// A line across, with its words.
struct ChartLimit {
    double value = 0;
    std::string text;
};

// A bar a row, of parts one behind the other.
struct BarChart {
    struct Row {
        std::string name;
        std::vector<double> parts; // one a kind; their colours may be the row's own
        std::string text; // behind the bar
        std::optional<unsigned> rgb = {};
    };
    std::string title, note;
    std::vector<ChartKind> kinds;
    std::vector<Row> rows;
    std::vector<ChartLimit> limits;
};

// Stacked columns from left to right.
struct AreaChart {
    std::string title, note;
    std::vector<ChartKind> kinds;
    std::vector<std::vector<double>> columns; // each one value a kind
    double top = 1; // of the axis
    std::string x_low, x_high; // words at its ends
    ChartText y_text;
    std::vector<ChartLimit> limits;
};

// A table whose cells have a colour behind their text.
struct TileChart {
    struct Tile {
        std::string text;
        std::optional<unsigned> rgb; // empty: none
        double strength = 1; // of the colour
    };
    std::string title, note;
    std::vector<std::string> columns; // heads
    std::vector<std::string> rows; // heads
    std::vector<std::vector<Tile>> tiles; // a line a row; may be shorter than the heads
    std::vector<ChartKind> kinds; // legend; may be empty
};

using Chart = std::variant<PlotChart, BarChart, AreaChart, TileChart>;

// Whether it has anything to draw: a picture of nothing is not written.
bool has_picture(const Chart& chart);
// As high as its rows need, at a width that is good to read.
PictureSize picture_size(const Chart& chart);
void paint_chart(cairo_t* cairo, const Chart& chart, const PictureSize& size);
// F.svg, F.pdf or F.png; `asked`: its size (asked_size()), else picture_size().
Expected<void> export_chart(
    const Chart& chart, const std::filesystem::path& file, const std::optional<PictureSize>& asked = {});

} // namespace fourfold
