// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/widgets/plot.h"

#include "app/tui/terminal/palette.h"
#include "core/report/chart_range.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

namespace fourfold::tui {

namespace {
struct Axis : ChartRange {
    [[nodiscard]] int place(double value, int dots) const
    {
        return std::clamp(static_cast<int>(std::lround((value - low) / (high - low) * (dots - 1))), 0, dots - 1);
    }
};

// Dots of a place, each with the colour of who came last.
class Dots {
public:
    Dots(int rows, int columns)
        : rows_(rows)
        , columns_(columns)
        , cells_(static_cast<std::size_t>(rows * columns))
    {
    }
    void put(int x, int y, Ink ink) // y from above
    {
        static constexpr std::array<std::array<unsigned, 2>, 4> kBits{
            {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
        if (x < 0 || y < 0 || x >= columns_ * 2 || y >= rows_ * 4)
            return;
        auto& cell = cells_[static_cast<std::size_t>(y / 4 * columns_ + x / 2)];
        cell.first |= kBits[static_cast<std::size_t>(y % 4)][static_cast<std::size_t>(x % 2)];
        cell.second = ink;
    }
    void line(int x0, int y0, int x1, int y1, Ink ink, bool faint)
    {
        const int steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1});
        for (int i = 0; i <= steps; ++i) {
            const int x = x0 + (x1 - x0) * i / steps, y = y0 + (y1 - y0) * i / steps;
            if (!faint || (x + y) % 3 == 0)
                put(x, y, ink);
        }
    }
    void draw(Canvas& canvas, int row, int column, const Look& look) const
    {
        for (int y = 0; y < rows_; ++y) {
            for (int x = 0; x < columns_; ++x) {
                const auto& [bits, ink] = cells_[static_cast<std::size_t>(y * columns_ + x)];
                if (bits != 0)
                    canvas.put(row + y, column + x, 0x2800 + bits, curve_style(ink, look));
            }
        }
    }

private:
    int rows_, columns_;
    std::vector<std::pair<unsigned, Ink>> cells_;
};

using Point = std::pair<double, double>;

// What of the points lies between the ends, with the places where a line through them crosses those.
std::vector<Point> cut(const ChartSeries& series, const Axis& x)
{
    const bool joined = series.look != ChartSeries::Look::dots;
    std::vector<Point> inside;
    const Point* last = nullptr;
    const auto crossing = [](const Point& a, const Point& b, double at) {
        return Point{at, a.second + (b.second - a.second) * (at - a.first) / (b.first - a.first)};
    };
    for (const Point& point : series.points) {
        if (!std::isfinite(point.first) || !std::isfinite(point.second))
            continue;
        for (const double end : {x.low, x.high}) {
            if (joined && last != nullptr && last->first < end && end < point.first)
                inside.push_back(crossing(*last, point, end));
        }
        if (x.holds(point.first))
            inside.push_back(point);
        last = &point;
    }
    return inside;
}

// Marks at the right edge, each as near to the end of its line as the others leave room; where there are too many, the
// lowest rows say so.
class EndMarks {
public:
    void add(int dot, char32_t mark, Ink ink) { marks_.push_back({dot, dot / 4, mark, ink}); } // from above
    void draw(Canvas& canvas, const Rect& place, const Look& look)
    {
        const auto most = static_cast<std::size_t>(place.rows);
        const bool too_many = marks_.size() > most;
        std::stable_sort(marks_.begin(), marks_.end(), [](const Mark& a, const Mark& b) { return a.dot < b.dot; });
        if (too_many)
            marks_.resize(most);
        for (std::size_t i = 1; i < marks_.size(); ++i)
            marks_[i].row = std::max(marks_[i].row, marks_[i - 1].row + 1);
        int behind = place.rows;
        for (std::size_t i = marks_.size(); i-- > 0;)
            behind = marks_[i].row = std::min(marks_[i].row, behind - 1);
        for (const Mark& mark : marks_)
            canvas.put(place.row + mark.row, place.column, mark.character, curve_style(mark.ink, look, true));
        if (too_many)
            canvas.put(place.row + place.rows - 1, place.column, U'+', kMuted);
    }

private:
    struct Mark {
        int dot, row;
        char32_t character;
        Ink ink;
    };
    std::vector<Mark> marks_;
};
} // namespace

void Plot::add(std::string name, ChartPoints points, ChartSeries::Look look, Ink ink, char32_t mark)
{
    constexpr int kTrueColors = 1 << 24;
    chart.series.push_back(
        {std::move(name), static_cast<unsigned>(palette::color_of(ink, kTrueColors).ink), look, std::move(points)});
    looks.push_back({ink, mark});
}

double PlotPlace::x_at(int column) const
{
    return x.low + (column - cells.column + 0.5) / cells.columns * (x.high - x.low);
}

std::pair<double, double> PlotPlace::distance(double at_x, double at_y, int row, int column) const
{
    const double across = (at_x - x.low) / (x.high - x.low) * cells.columns - (column - cells.column + 0.5);
    const double down = (y.high - at_y) / (y.high - y.low) * cells.rows - (row - cells.row + 0.5);
    return {across * 2, down * 4};
}

const PlotPlace* plot_at(const std::vector<PlotPlace>& plots, const Key& key)
{
    const auto found = std::ranges::find_if(
        plots, [&key](const PlotPlace& plot) { return plot.cells.contains(key.row, key.column); });
    return found == plots.end() ? nullptr : &*found;
}

PlotPlace draw_plot(Canvas& canvas, const Rect& place, const Plot& plot, const Look& look)
{
    const PlotChart& chart = plot.chart;
    const std::string title = chart.title + (plot.key.empty() ? "" : "; " + plot.key);
    canvas.text_in(place.row, place.column, place.columns, title, kBold);
    if (const int left = place.columns - width_of(title) - 2; !chart.note.empty() && left > 8)
        canvas.text_in(place.row, place.column + place.columns - left, left, chart.note, kMuted, true);
    Axis x, y;
    if (chart.x_range)
        x = {{chart.x_range->first, chart.x_range->second}};
    bool has_marks = false;
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        const ChartSeries& series = chart.series[i];
        has_marks = has_marks || (series.look != ChartSeries::Look::dots && plot.looks[i].mark != 0);
        for (const auto& [at, value] : chart.x_range ? cut(series, x) : series.points) {
            x.take(at);
            y.take(value);
        }
    }
    if (!x.is_there() || !y.is_there() || place.rows < 5 || place.columns < 16) {
        if (place.rows > 1)
            canvas.text_in(place.row + 1, place.column, place.columns, "nothing yet", kMuted);
        return {};
    }
    y.take_marks(chart);
    x.open();
    y.open();
    const std::string high = chart.y_text(y.high), low = chart.y_text(y.low);
    const int label = std::max(width_of(high), width_of(low));
    const int rows = place.rows - 3, columns = place.columns - label - (has_marks ? 4 : 2);
    const int top = place.row + 1, left = place.column + label + 2;
    canvas.text_in(top, place.column, label, high, kMuted, true);
    canvas.text_in(top + rows - 1, place.column, label, low, kMuted, true);
    for (int row = top; row < top + rows; ++row)
        canvas.put(row, left - 1, U'\u2502', kMuted);
    for (int column = left; column < left + columns; ++column)
        canvas.put(top + rows, column, U'\u2500', kMuted);
    canvas.put(top + rows, left - 1, U'\u2514', kMuted);
    canvas.text(top + rows + 1, left, chart.x_text(x.low), kMuted);
    canvas.text_in(top + rows + 1, left, columns, chart.x_text(x.high), kMuted, true);
    canvas.text_in(
        top + rows + 1, left + (columns - width_of(chart.x_label)) / 2, width_of(chart.x_label), chart.x_label, kMuted);
    const auto row_of = [&](double value) { return rows - 1 - y.place(value, rows); };
    if (chart.band) {
        for (int row = row_of(chart.band->second); row <= row_of(chart.band->first); ++row)
            canvas.fill({top + row, left, 1, columns}, U'\u2591', kMuted);
    }
    for (int column = 0; chart.level && column < columns; column += 2)
        canvas.put(top + row_of(*chart.level), left + column, U'\u2500', kMuted);
    if (plot.cursor && x.holds(*plot.cursor))
        canvas.fill({top, left + x.place(*plot.cursor, columns), rows, 1}, U'\u2502', kMuted);
    Dots dots(rows, columns);
    EndMarks marks;
    std::vector<std::tuple<int, int, const Plot::SeriesLook*>> letters;
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        const ChartSeries& series = chart.series[i];
        const Plot::SeriesLook& own = plot.looks[i];
        const bool joined = series.look != ChartSeries::Look::dots;
        int last_x = -1, last_y = -1;
        for (const auto& [at, value] : cut(series, x)) {
            const int dot_x = x.place(at, columns * 2), dot_y = rows * 4 - 1 - y.place(value, rows * 4);
            if (joined && last_x >= 0)
                dots.line(last_x, last_y, dot_x, dot_y, own.ink, series.look != ChartSeries::Look::line);
            else if (!joined && own.mark != 0)
                letters.emplace_back(dot_y / 4, dot_x / 2, &own);
            else
                dots.put(dot_x, dot_y, own.ink);
            last_x = dot_x;
            last_y = dot_y;
        }
        if (joined && own.mark != 0 && last_y >= 0)
            marks.add(last_y, own.mark, own.ink);
    }
    marks.draw(canvas, {top, left + columns + 1, rows, 1}, look);
    dots.draw(canvas, top, left, look);
    for (const auto& [row, column, own] : letters)
        canvas.put(top + row, left + column, own->mark, curve_style(own->ink, look, true));
    if (chart.chosen)
        canvas.put(top + rows - 1 - y.place(chart.chosen->second, rows), left + x.place(chart.chosen->first, columns),
            U'\u25cf', {Ink::bad, Ink::normal, true});
    return {{top, left, rows, columns}, x, y};
}

} // namespace fourfold::tui
