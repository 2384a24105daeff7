// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/widgets/form_lines.h"

#include "core/base/text.h"

#include <algorithm>

namespace fourfold::tui {

void FormLines::offer()
{
    for (Line& line : lines)
        line.input.choose_all();
}

std::string FormLines::text(const std::string& name) const
{
    const auto line = std::ranges::find(lines, name, &Line::name);
    return line == lines.end() ? std::string() : line->input.text();
}

int FormLines::draw(Canvas& canvas, const Rect& place, int name_columns, bool takes)
{
    place_ = {place.row, place.column, std::min(place.rows, static_cast<int>(lines.size())), place.columns};
    int cursor_row = -1, cursor_column = -1;
    for (int i = 0; i < place_.rows; ++i) {
        const Line& line = lines[static_cast<std::size_t>(i)];
        const bool here = i == at && takes;
        const int row = place.row + i, column = place.column + name_columns, width = place.columns - name_columns;
        canvas.text(row, place.column, line.name, here ? kHeading : kMuted);
        if (line.input.text().empty() && !here)
            canvas.text_in(row, column, width, "for example " + line.example, kMuted); // no answer of its own
        else
            line.input.draw(canvas, row, column, width, {Ink::normal, Ink::normal, false, false, true}, here);
        if (here) {
            cursor_row = canvas.cursor_row;
            cursor_column = canvas.cursor_column;
        }
    }
    canvas.cursor_row = cursor_row;
    canvas.cursor_column = cursor_column;
    return place.row + place_.rows;
}

bool FormLines::move(const Key& key, bool has_below)
{
    const int count = static_cast<int>(lines.size()), stops = count + (has_below ? 1 : 0);
    if (key.code == Key::tab || key.code == Key::back_tab) {
        at = (at + (key.code == Key::tab ? 1 : stops - 1)) % stops;
    } else if (key.code == Key::click) {
        if (place_.contains(key.row, key.column))
            at = key.row - place_.row;
    } else if (!is_behind() && (key.code == Key::up || key.code == Key::down)) {
        at = std::clamp(at + (key.code == Key::down ? 1 : -1), 0, count - 1);
    } else {
        return false;
    }
    return true;
}

std::string FormLines::question() const
{
    const Line& line = lines[static_cast<std::size_t>(std::clamp(at, 0, static_cast<int>(lines.size()) - 1))];
    const std::string& typed = line.input.text();
    return line.name + ", for example " + line.example + ": "
        + (typed.empty() ? "" : "an empty line takes " + in_quotes(typed) + "; ") + "esc leaves\n";
}

} // namespace fourfold::tui
