// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/widgets/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace fourfold::tui {

namespace {
struct Axis {
    double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
    void take(double value)
    {
        if (!std::isfinite(value))
            return;
        low = std::min(low, value);
        high = std::max(high, value);
    }
    // Something to divide by.
    void open()
    {
        if (!(high > low)) {
            const double room = low == 0 ? 1 : std::abs(low) * 0.05;
            low -= room;
            high += room;
        }
    }
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
    void line(int x0, int y0, int x1, int y1, Ink ink)
    {
        const int steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1});
        for (int i = 0; i <= steps; ++i)
            put(x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps, ink);
    }
    void draw(Canvas& canvas, int row, int column) const
    {
        for (int y = 0; y < rows_; ++y) {
            for (int x = 0; x < columns_; ++x) {
                const auto& [bits, ink] = cells_[static_cast<std::size_t>(y * columns_ + x)];
                if (bits != 0)
                    canvas.put(row + y, column + x, 0x2800 + bits, {ink});
            }
        }
    }

private:
    int rows_, columns_;
    std::vector<std::pair<unsigned, Ink>> cells_;
};
} // namespace

void draw_plot(Canvas& canvas, const Rect& place, const Plot& plot, const Look&)
{
    canvas.text_in(place.row, place.column, place.columns, plot.title, kBold);
    Axis x, y;
    for (const PlotSeries& series : plot.series) {
        for (const auto& [at, value] : series.points) {
            x.take(at);
            y.take(value);
        }
    }
    if (!(x.high >= x.low) || place.rows < 5 || place.columns < 16) {
        if (place.rows > 1)
            canvas.text_in(place.row + 1, place.column, place.columns, "nothing yet", kMuted);
        return;
    }
    if (plot.from_zero)
        y.take(0);
    x.open();
    y.open();
    const std::string high = plot.y_text(y.high), low = plot.y_text(y.low);
    const int label = std::max(width_of(high), width_of(low));
    const int rows = place.rows - 3, columns = place.columns - label - 2;
    const int top = place.row + 1, left = place.column + label + 2;
    canvas.text_in(top, place.column, label, high, kMuted, true);
    canvas.text_in(top + rows - 1, place.column, label, low, kMuted, true);
    for (int row = top; row < top + rows; ++row)
        canvas.put(row, left - 1, U'\u2502', kMuted);
    for (int column = left; column < left + columns; ++column)
        canvas.put(top + rows, column, U'\u2500', kMuted);
    canvas.put(top + rows, left - 1, U'\u2514', kMuted);
    canvas.text(top + rows + 1, left, plot.x_text(x.low), kMuted);
    canvas.text_in(top + rows + 1, left, columns, plot.x_text(x.high), kMuted, true);
    canvas.text_in(
        top + rows + 1, left + (columns - width_of(plot.x_label)) / 2, width_of(plot.x_label), plot.x_label, kMuted);
    Dots dots(rows, columns);
    for (const PlotSeries& series : plot.series) {
        int last_x = -1, last_y = -1;
        for (const auto& [at, value] : series.points) {
            if (!std::isfinite(at) || !std::isfinite(value))
                continue;
            const int dot_x = x.place(at, columns * 2), dot_y = rows * 4 - 1 - y.place(value, rows * 4);
            if (series.joined && last_x >= 0)
                dots.line(last_x, last_y, dot_x, dot_y, series.ink);
            else
                dots.put(dot_x, dot_y, series.ink);
            last_x = dot_x;
            last_y = dot_y;
        }
    }
    dots.draw(canvas, top, left);
    if (plot.has_chosen)
        canvas.put(top + rows - 1 - y.place(plot.chosen.second, rows), left + x.place(plot.chosen.first, columns),
            U'\u25cf', {Ink::bad, Ink::normal, true});
}

} // namespace fourfold::tui
