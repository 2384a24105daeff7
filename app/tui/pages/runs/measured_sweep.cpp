// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/runs/measured_sweep.h"

#include "app/tui/linear/spoken.h"
#include "app/view/text.h"

#include <algorithm>

namespace fourfold::tui {

void MeasuredSweep::take(const SweepTable& table, const std::string& next)
{
    table_ = table;
    std::size_t known = 0, all = 0;
    for (const auto& row : table.cells) {
        all += row.size();
        known += static_cast<std::size_t>(
            std::count_if(row.begin(), row.end(), [](const auto& cell) { return cell.has_value(); }));
    }
    text_ = view::grouped(double(known)) + " of " + view::counted(double(all), "cell")
        + (table.stopped       ? desk_.keyed("; stopped, `S` goes on")
                : next.empty() ? ""
                               : "; now " + next);
    if (next.empty())
        desk_.tell("The sweep: " + text_);
}

void MeasuredSweep::draw(Canvas& canvas, const Rect& place) const
{
    const std::vector<std::string> lines = wrapped(sweep_table(*table_).write(TableFormat::text), place.columns);
    canvas.text_in(place.row, place.column, place.columns, text_, kBold);
    for (int i = 0; i + 1 < place.rows && i < static_cast<int>(lines.size()); ++i)
        canvas.text_in(place.row + 1 + i, place.column, place.columns, lines[static_cast<std::size_t>(i)]);
}

std::vector<std::string> MeasuredSweep::lines() const
{
    std::vector<std::string> lines{text_};
    speak_rows(lines, sweep_table(*table_));
    return lines;
}

void MeasuredSweep::ask_to_export()
{
    desk_.exports().ask("sweep", [this] { return sweep_cells(*table_); });
}

} // namespace fourfold::tui
