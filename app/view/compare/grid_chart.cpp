// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/compare/grid_chart.h"

#include "core/base/text.h"
#include "core/report/views/grid_table.h"

#include <algorithm>
#include <array>

namespace fourfold::view {

const char* grid_value_label(GridValue value)
{
    // In the order of the values.
    static constexpr std::array<const char*, kWords<GridValue>.size()> kLabels{
        "Tokens/s per GPU", "TFLOP/s per GPU", "MFU, %", "Memory, GiB", "Step time"};
    return kLabels[static_cast<std::size_t>(value)];
}

TileChart grid_chart(const LayoutGrid& grid, GridValue value, const MeasuredGrid* measured)
{
    constexpr double kPalest = 0.15; // still told apart from a cell without a value
    const Table table = grid_table(grid, value, measured, TableFormat::text);
    const std::size_t first = table.columns.size() - grid.gpus.size(); // of the numbers of GPUs
    double low = 0, high = 0;
    bool any = false;
    for (const auto& row : grid.cells) {
        for (const GridCell& cell : row) {
            const std::optional<double> figure = value_of(cell, value);
            if (!figure)
                continue;
            low = any ? std::min(low, *figure) : *figure;
            high = any ? std::max(high, *figure) : *figure;
            any = true;
        }
    }
    TileChart chart;
    chart.title = "Layouts and GPUs: " + std::string(name(value));
    for (std::size_t column = first; column < table.columns.size(); ++column)
        chart.columns.push_back(table.columns[column].title);
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        std::vector<std::string> words;
        for (std::size_t column = 0; column < first; ++column)
            words.push_back(table.columns[column].title + " " + shown(table.rows[row][column], table.columns[column]));
        chart.rows.push_back(joined(words, ", "));
        std::vector<TileChart::Tile>& tiles = chart.tiles.emplace_back();
        for (std::size_t column = 0; column < grid.gpus.size(); ++column) {
            TileChart::Tile tile{shown(table.rows[row][first + column], table.columns[first + column]), {}, 1};
            if (const std::optional<double> figure = value_of(grid.cells[row][column], value)) {
                tile.rgb = okabe::kBlue;
                tile.strength = kPalest + (1 - kPalest) * (high > low ? (*figure - low) / (high - low) : 1);
            }
            tiles.push_back(std::move(tile));
        }
    }
    return chart;
}

} // namespace fourfold::view
