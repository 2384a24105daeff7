// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/widgets/table_box.h"

#include "app/tui/linear/spoken.h"

#include <algorithm>
#include <utility>

namespace fourfold::tui {

TableBox::TableBox(std::string title, Table table, const std::string& below)
    : title_(std::move(title))
    , below_("j k rows  h l columns  y copies  Esc closes; " + below)
    , table_(std::move(table))
    , view_({}, 1)
{
    std::vector<TableView::Column> heads;
    for (std::size_t i = 0; i < table_.columns.size(); ++i) {
        const bool is_text = std::ranges::all_of(table_.rows, [i](const auto& row) {
            return std::holds_alternative<std::string>(row[i]) || std::holds_alternative<std::monostate>(row[i]);
        });
        std::string title = table_.columns[i].title.empty() ? table_.columns[i].key : table_.columns[i].title;
        std::replace(title.begin(), title.end(), '\n', ' ');
        heads.push_back({std::move(title), !is_text});
    }
    view_.set_columns(std::move(heads));
}

void TableBox::draw(Canvas& canvas, const Look&)
{
    const int count = static_cast<int>(table_.rows.size());
    const Rect inside = draw_frame(canvas, std::clamp(count + 2, 4, canvas.rows() - 4), canvas.columns() - 6, title_);
    view_.draw(canvas, {inside.row, inside.column, inside.rows - 1, inside.columns},
        {count, [this](int row, int column) {
             const auto at = static_cast<std::size_t>(column);
             return shown(table_.rows[static_cast<std::size_t>(row)][at], table_.columns[at]);
         }});
    canvas.text_in(inside.row + inside.rows - 1, inside.column, inside.columns, below_, kMuted);
}

void TableBox::key(const Key& key)
{
    if (key.code == Key::escape || key.code == Key::enter || key.is('q') || key.is('T') || key.is_ctrl('c'))
        close();
    else
        view_.key(key, static_cast<int>(table_.rows.size()));
}

std::string TableBox::read_out()
{
    std::vector<std::string> rows;
    speak_rows(rows, table_, -1, 200);
    std::string text = title_ + "\n";
    for (const std::string& row : rows)
        text += row + "\n";
    return text;
}

} // namespace fourfold::tui
