// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text.h"
#include "core/report/chart_frame.h"
#include "core/report/chart_range.h"
#include "core/report/drawing.h"
#include "core/report/timeline_painter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace fourfold {

using namespace drawing;

namespace {

constexpr double kMargin = 20, kTitleSize = 15, kTextSize = 11.5, kLegendRow = 18;
constexpr PictureSize kPlotSize{960, 540};
constexpr int kTicks = 6;

ChartRange x_of(const PlotChart& chart)
{
    ChartRange x;
    if (chart.x_range)
        return {chart.x_range->first, chart.x_range->second};
    for (const ChartSeries& series : chart.series) {
        for (const auto& point : series.points)
            x.take(std::isfinite(point.second) ? point.first : std::numeric_limits<double>::quiet_NaN());
    }
    return x;
}

ChartRange y_of(const PlotChart& chart, const ChartRange& x)
{
    ChartRange y;
    for (const ChartSeries& series : chart.series) {
        for (const auto& [at, value] : series.points) {
            if (x.holds(at))
                y.take(value);
        }
    }
    return y;
}

void paint_series(
    cairo_t* cairo, const ChartSeries& series, const ChartArea& area, const ChartRange& x, const ChartRange& y)
{
    const auto place = [&](const std::pair<double, double>& point) {
        return std::pair{area.x + (point.first - x.low) / (x.high - x.low) * area.width,
            area.y + area.height - (point.second - y.low) / (y.high - y.low) * area.height};
    };
    const auto is_known = [](const auto& point) { return std::isfinite(point.first) && std::isfinite(point.second); };
    ink(cairo, series.rgb, series.look == ChartSeries::Look::faint ? 0.35 : 1);
    if (series.look == ChartSeries::Look::dots) {
        for (const auto& point : series.points) {
            if (!is_known(point) || !x.holds(point.first))
                continue;
            const auto [at, height] = place(point);
            cairo_arc(cairo, at, height, 3, 0, 2 * std::numbers::pi);
            cairo_fill(cairo);
        }
        return;
    }
    cairo_set_line_width(cairo, 1.6);
    dashes(cairo, series.look == ChartSeries::Look::dashed ? 6 : 0);
    bool begun = false;
    for (const auto& point : series.points) {
        if (!is_known(point)) {
            begun = false;
            continue;
        }
        const auto [at, height] = place(point);
        begun ? cairo_line_to(cairo, at, height) : cairo_move_to(cairo, at, height);
        begun = true;
    }
    cairo_stroke(cairo);
    dashes(cairo, 0);
}

void paint_x_axis(cairo_t* cairo, const ChartArea& area, const ChartRange& x, const PlotChart& chart)
{
    const double bottom = area.y + area.height;
    const double step = std::max(tick_step(x.high - x.low, kTicks), chart.whole_x ? 1.0 : 0.0);
    grey(cairo, 0.35);
    cairo_set_line_width(cairo, 1);
    line(cairo, area.x, bottom, area.x + area.width, bottom);
    double free = 0; // where the text before ends
    for (double tick = std::ceil(x.low / step) * step; tick <= x.high + step * 1e-9; tick += step) {
        const double at = area.x + (tick - x.low) / (x.high - x.low) * area.width;
        line(cairo, at, bottom, at, bottom + 4);
        const std::string text = chart.x_text(std::abs(tick) < step * 1e-9 ? 0 : tick);
        const double half = text_width(cairo, text) / 2;
        if (at - half < free)
            continue;
        show(cairo, at - half, bottom + 18, text);
        free = at + half + 6;
    }
    show_about(cairo, area.x + area.width / 2, bottom + 36, chart.x_label);
}

} // namespace

namespace drawing {

ChartArea paint_chart_frame(cairo_t* cairo, const std::string& title, const std::string& note,
    const std::vector<ChartKind>& kinds, const PictureSize& size)
{
    ground(cairo);
    const double width = size.width - 2 * kMargin;
    double y = kMargin + kTitleSize;
    font(cairo, kTitleSize, true);
    grey(cairo, 0.1);
    show(cairo, kMargin, y, fitted(cairo, printable(title, kUncut), width));
    font(cairo, kTextSize);
    grey(cairo, 0.35);
    if (!note.empty())
        show(cairo, kMargin, y += kLegendRow, fitted(cairo, printable(note, kUncut), width));
    double x = kMargin;
    bool first = true;
    for (const ChartKind& kind : kinds) {
        const std::string name = fitted(cairo, printable(kind.name, kUncut), width - 20);
        const double needed = 18 + text_width(cairo, name) + 18;
        if (name.empty())
            continue;
        if (first || x + needed - 18 > kMargin + width) {
            y += kLegendRow;
            x = kMargin;
            first = false;
        }
        ink(cairo, kind.rgb, kind.pale ? 0.35 : 1);
        fill_box(cairo, x, y - 10, 12, 12);
        grey(cairo, 0.1);
        show(cairo, x + 18, y, name);
        x += needed;
    }
    y += kLegendRow;
    return {kMargin, y, width, size.height - y - kMargin};
}

void paint_y_axis(cairo_t* cairo, const ChartArea& area, double low, double high, const ChartText& text)
{
    const double step = tick_step(high - low, kTicks);
    cairo_set_line_width(cairo, 1);
    for (double tick = std::ceil(low / step) * step; tick <= high + step * 1e-9; tick += step) {
        const double y = area.y + area.height - (tick - low) / (high - low) * area.height;
        grey(cairo, 0.9);
        line(cairo, area.x, y, area.x + area.width, y);
        grey(cairo, 0.35);
        show_left_of(cairo, area.x - 8, y + 4, text(std::abs(tick) < step * 1e-9 ? 0 : tick));
    }
}

void paint_plot(cairo_t* cairo, const PlotChart& chart, const PictureSize& size)
{
    std::vector<ChartKind> kinds;
    for (const ChartSeries& series : chart.series)
        kinds.push_back({series.name, series.rgb, series.look == ChartSeries::Look::faint});
    constexpr double kLabels = 84, kBelow = 40;
    ChartArea area = paint_chart_frame(cairo, chart.title, chart.note, kinds, size);
    area = {area.x + kLabels, area.y, area.width - kLabels, area.height - kBelow + kMargin / 2};
    ChartRange x = x_of(chart), y = y_of(chart, x);
    if (!x.is_there() || !y.is_there() || area.height < 20)
        return;
    y.take_marks(chart);
    x.open();
    y.open();
    const auto height
        = [&](double value) { return area.y + area.height - (value - y.low) / (y.high - y.low) * area.height; };
    if (chart.band) {
        grey(cairo, 0.93);
        fill_box(cairo, area.x, height(chart.band->second), area.width,
            height(chart.band->first) - height(chart.band->second));
    }
    paint_y_axis(cairo, area, y.low, y.high, chart.y_text);
    paint_x_axis(cairo, area, x, chart);
    cairo_save(cairo);
    cairo_rectangle(cairo, area.x - 4, area.y - 4, area.width + 8, area.height + 8);
    cairo_clip(cairo);
    if (chart.level) {
        grey(cairo, 0.35);
        dashes(cairo, 6);
        line(cairo, area.x, height(*chart.level), area.x + area.width, height(*chart.level));
        dashes(cairo, 0);
    }
    for (const ChartSeries& series : chart.series)
        paint_series(cairo, series, area, x, y);
    if (chart.chosen) {
        grey(cairo, 0.1);
        cairo_arc(cairo, area.x + (chart.chosen->first - x.low) / (x.high - x.low) * area.width,
            height(chart.chosen->second), 6, 0, 2 * std::numbers::pi);
        cairo_stroke(cairo);
    }
    cairo_restore(cairo);
}

} // namespace drawing

bool has_picture(const Chart& chart)
{
    struct Visitor {
        bool operator()(const PlotChart& plot) const
        {
            const ChartRange x = x_of(plot);
            return x.is_there() && y_of(plot, x).is_there();
        }
        bool operator()(const BarChart& bars) const { return !bars.rows.empty(); }
        bool operator()(const AreaChart& area) const { return !area.columns.empty(); }
        bool operator()(const TileChart& tiles) const { return !tiles.tiles.empty(); }
    };
    return std::visit(Visitor{}, chart);
}

PictureSize picture_size(const Chart& chart)
{
    if (const auto* bars = std::get_if<BarChart>(&chart))
        return bars_size(*bars);
    if (const auto* tiles = std::get_if<TileChart>(&chart))
        return tiles_size(*tiles);
    return kPlotSize;
}

void paint_chart(cairo_t* cairo, const Chart& chart, const PictureSize& size)
{
    struct Visitor {
        cairo_t* cairo;
        const PictureSize& size;
        void operator()(const PlotChart& plot) const { paint_plot(cairo, plot, size); }
        void operator()(const BarChart& bars) const { paint_bars(cairo, bars, size); }
        void operator()(const AreaChart& area) const { paint_area(cairo, area, size); }
        void operator()(const TileChart& tiles) const { paint_tiles(cairo, tiles, size); }
    };
    std::visit(Visitor{cairo, size}, chart);
}

Expected<void> export_chart(
    const Chart& chart, const std::filesystem::path& file, const std::optional<PictureSize>& asked)
{
    FOURFOLD_CHECK(check_picture_file("a picture", file));
    if (!has_picture(chart))
        return Problem{
            ProblemCode::failed, "there is nothing to draw", "wait until the picture has data", file.string()};
    const PictureSize size = asked ? asked_size(*asked, file) : picture_size(chart);
    return write_picture(
        size, [&](cairo_t* cairo) { paint_chart(cairo, chart, size); }, file);
}

} // namespace fourfold
