// SPDX-License-Identifier: GPL-3.0-or-later
// Charts of rows and columns: bars, stacked columns, tiles.
#include "core/base/text.h"
#include "core/report/chart_frame.h"
#include "core/report/drawing.h"

#include <algorithm>
#include <cmath>

namespace fourfold {

using namespace drawing;

namespace {

constexpr double kGridWidth = 960, kAround = 110; // points; of title, note, legend and margins
constexpr double kMostNames = 260; // points of the heads at the left
constexpr double kTallestBars = 2400; // all rows together
constexpr double kLeastForText = 13; // points of a row

double row_height(std::size_t rows, double usual, double least)
{
    return std::clamp(kTallestBars / double(std::max<std::size_t>(rows, 1)), least, usual);
}

double widest(cairo_t* cairo, const std::vector<std::string>& texts)
{
    double width = 0;
    for (const std::string& text : texts)
        width = std::max(width, text_width(cairo, text));
    return width;
}

double sum_of(const std::vector<double>& parts)
{
    double sum = 0;
    for (const double part : parts)
        sum += part;
    return sum;
}

// Dark letters on a light colour, light ones on a dark one.
bool is_dark(unsigned rgb, double strength)
{
    const auto part = [&](int shift) { return 1 - strength * (1 - (rgb >> shift & 255) / 255.0); };
    return 0.299 * part(16) + 0.587 * part(8) + 0.114 * part(0) < 0.55;
}

} // namespace

namespace drawing {

PictureSize bars_size(const BarChart& chart)
{
    return {kGridWidth, kAround + double(chart.rows.size()) * row_height(chart.rows.size(), 30, 4) + 20};
}

void paint_bars(cairo_t* cairo, const BarChart& chart, const PictureSize& size)
{
    constexpr double kGap = 10;
    ChartArea area = paint_chart_frame(cairo, chart.title, chart.note, chart.kinds, size);
    if (!chart.limits.empty()) // their words stand over the bars
        area = {area.x, area.y + 14, area.width, area.height - 14};
    std::vector<std::string> names, texts;
    double most = 0;
    for (const BarChart::Row& row : chart.rows) {
        names.push_back(printable(row.name, kUncut));
        texts.push_back(row.text);
        most = std::max(most, sum_of(row.parts));
    }
    for (const ChartLimit& limit : chart.limits)
        most = std::max(most, limit.value);
    const double left = std::min(widest(cairo, names), kMostNames) + kGap, right = widest(cairo, texts) + kGap;
    const double room = std::max(1.0, area.width - left - right), scale = most > 0 ? room / most : 0;
    const double height = std::min(36.0, area.height / double(std::max<std::size_t>(chart.rows.size(), 1)));
    const double gap = height > 8 ? height * 0.2 : 0;
    const auto every = static_cast<std::size_t>(std::ceil(kLeastForText / std::max(height, 1.0)));
    for (std::size_t i = 0; i < chart.rows.size(); ++i) {
        const BarChart::Row& row = chart.rows[i];
        const double y = area.y + double(i) * height;
        double x = area.x + left;
        for (std::size_t part = 0; part < row.parts.size(); ++part) {
            const ChartKind& kind = chart.kinds[std::min(part, chart.kinds.size() - 1)];
            ink(cairo, row.rgb.value_or(kind.rgb), kind.pale ? 0.35 : 1);
            fill_box(cairo, x, y + gap / 2, row.parts[part] * scale, height - gap);
            x += row.parts[part] * scale;
        }
        if (i % every != 0)
            continue;
        grey(cairo, 0.1);
        show_left_of(cairo, area.x + left - kGap, y + height / 2 + 4, fitted(cairo, names[i], left - kGap));
        show_left_of(cairo, area.x + area.width, y + height / 2 + 4, texts[i]);
    }
    for (const ChartLimit& limit : chart.limits) {
        const double x = area.x + left + limit.value * scale;
        ink(cairo, okabe::kVermilion);
        cairo_set_line_width(cairo, 1.5);
        line(cairo, x, area.y - 2, x, area.y + height * double(chart.rows.size()) + 2);
        show_left_of(cairo, std::max(x, area.x + text_width(cairo, limit.text)), area.y - 6, limit.text);
    }
}

void paint_area(cairo_t* cairo, const AreaChart& chart, const PictureSize& size)
{
    constexpr double kLabels = 64, kBelow = 22;
    ChartArea area = paint_chart_frame(cairo, chart.title, chart.note, chart.kinds, size);
    area = {area.x + kLabels, area.y, area.width - kLabels, area.height - kBelow};
    if (area.height < 20)
        return;
    paint_y_axis(cairo, area, 0, chart.top, chart.y_text);
    const double step = area.width / double(std::max<std::size_t>(chart.columns.size(), 1));
    // A band a kind, so that columns of one kind join.
    for (std::size_t kind = 0; kind < chart.kinds.size(); ++kind) {
        const auto edge = [&](std::size_t column, std::size_t kinds) {
            double sum = 0;
            for (std::size_t i = 0; i < std::min(kinds, chart.columns[column].size()); ++i)
                sum += chart.columns[column][i];
            return area.y + area.height - std::min(1.0, sum / chart.top) * area.height;
        };
        for (std::size_t column = 0; column < chart.columns.size(); ++column) {
            const double y = edge(column, kind + 1);
            for (const double x : {double(column), double(column) + 1})
                column == 0 && x == 0 ? cairo_move_to(cairo, area.x, y) : cairo_line_to(cairo, area.x + x * step, y);
        }
        for (std::size_t column = chart.columns.size(); column-- > 0;) {
            for (const double x : {double(column) + 1, double(column)})
                cairo_line_to(cairo, area.x + x * step, edge(column, kind));
        }
        cairo_close_path(cairo);
        ink(cairo, chart.kinds[kind].rgb);
        cairo_fill(cairo);
    }
    for (const ChartLimit& limit : chart.limits) {
        const double y = area.y + area.height - limit.value / chart.top * area.height;
        ink(cairo, okabe::kVermilion);
        cairo_set_line_width(cairo, 1.5);
        line(cairo, area.x, y, area.x + area.width, y);
        show_left_of(cairo, area.x + area.width, y - 4, limit.text);
    }
    grey(cairo, 0.35);
    show(cairo, area.x, area.y + area.height + 18, chart.x_low);
    show_left_of(cairo, area.x + area.width, area.y + area.height + 18, chart.x_high);
}

PictureSize tiles_size(const TileChart& chart)
{
    return {kGridWidth, kAround + 20 + double(chart.tiles.size()) * row_height(chart.tiles.size(), 26, 5)};
}

void paint_tiles(cairo_t* cairo, const TileChart& chart, const PictureSize& size)
{
    constexpr double kGap = 10, kHeads = 20;
    const ChartArea area = paint_chart_frame(cairo, chart.title, chart.note, chart.kinds, size);
    std::size_t columns = chart.columns.size();
    for (const auto& row : chart.tiles)
        columns = std::max(columns, row.size());
    if (columns == 0)
        return;
    const double left = std::min(widest(cairo, chart.rows), kMostNames) + kGap;
    const double width = (area.width - left) / double(columns);
    const double height = std::min(30.0, (area.height - kHeads) / double(chart.tiles.size()));
    const double line_gap = height > 8 && width > 8 ? 2 : 0;
    grey(cairo, 0.35);
    for (std::size_t column = 0; column < chart.columns.size(); ++column)
        show_about(cairo, area.x + left + (double(column) + 0.5) * width, area.y + 12,
            fitted(cairo, chart.columns[column], width));
    const auto every = static_cast<std::size_t>(std::ceil(kLeastForText / std::max(height, 1.0)));
    for (std::size_t row = 0; row < chart.tiles.size(); ++row) {
        const double y = area.y + kHeads + double(row) * height;
        if (row < chart.rows.size() && row % every == 0) {
            grey(cairo, 0.1);
            show_left_of(cairo, area.x + left - kGap, y + height / 2 + 4, fitted(cairo, chart.rows[row], left - kGap));
        }
        for (std::size_t column = 0; column < chart.tiles[row].size(); ++column) {
            const TileChart::Tile& tile = chart.tiles[row][column];
            const double x = area.x + left + double(column) * width;
            if (tile.rgb) {
                ink(cairo, *tile.rgb, tile.strength);
                fill_box(cairo, x, y, width - line_gap, height - line_gap);
            }
            if (height < kLeastForText)
                continue;
            grey(cairo, tile.rgb && is_dark(*tile.rgb, tile.strength) ? 1 : 0.1);
            show_about(
                cairo, x + (width - line_gap) / 2, y + height / 2 + 3, fitted(cairo, tile.text, width - line_gap - 4));
        }
    }
}

} // namespace drawing

} // namespace fourfold
