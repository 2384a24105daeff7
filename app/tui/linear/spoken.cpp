// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/linear/spoken.h"

#include "app/view/text.h"

#include <algorithm>
#include <variant>

namespace fourfold::tui {

std::string spoken(const view::Figure& figure)
{
    std::string text = figure.title + ": " + figure.value + (figure.unit.empty() ? "" : " " + figure.unit);
    for (const std::string& more : {figure.basis, figure.confidence})
        text += more.empty() ? "" : ", " + more;
    return text;
}

std::string spoken_row(const Table& table, std::size_t row)
{
    std::string text = "Row " + std::to_string(row + 1) + ":";
    const char* before = " ";
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const auto& cell = table.rows[row][i];
        const Column& column = table.columns[i];
        const std::string value = shown(cell, column);
        if (std::holds_alternative<std::monostate>(cell) || value.empty())
            continue;
        std::string title = column.title.empty() ? column.key : column.title;
        std::replace(title.begin(), title.end(), '\n', ' ');
        text += before + (title.empty() ? "" : title + " ") + value;
        before = ", ";
    }
    return text;
}

void speak_rows(std::vector<std::string>& lines, const Table& table, int chosen, std::size_t most)
{
    const std::size_t shown = std::min(table.rows.size(), most);
    const auto at = static_cast<std::size_t>(std::max(chosen, 0));
    for (std::size_t row = 0; row < shown; ++row)
        lines.push_back(spoken_row(table, row));
    if (table.rows.size() > shown)
        lines.push_back("and " + view::counted(double(table.rows.size() - shown), "row") + " more");
    if (chosen >= 0 && at < table.rows.size())
        lines.push_back("Chosen: " + spoken_row(table, at));
}

} // namespace fourfold::tui
