// SPDX-License-Identifier: GPL-3.0-or-later
// Rows and columns with a chosen row: columns as wide as what they show, left and right moves where they have no room.
#pragma once

#include "app/tui/look.h"
#include "app/tui/widgets/list.h"

#include <functional>
#include <string>
#include <vector>

namespace fourfold::tui {

class TableView {
public:
    struct Column {
        std::string title; // one line
        bool right = false; // numbers stand at the right
        int most = 40; // cells
        bool of_names = false; // which may differ at their ends: what has no room goes from the middle
    };
    struct Content {
        int rows = 0;
        std::function<std::string(int row, int column)> text;
        std::function<Style(int row, int column)> style{}; // may be empty
        int sorted = -1; // column
        bool falling = false;
        bool focused = true; // the chosen row stands out
        std::function<bool(int row)> marked{}; // has a dot in the cell before the table; may be empty
    };

    List list;

    explicit TableView(std::vector<Column> columns = {}, int fixed = 0)
        : columns_(std::move(columns))
        , fixed_(fixed)
    {
    }
    void set_columns(std::vector<Column> columns) { columns_ = std::move(columns); }
    void draw(Canvas& canvas, const Rect& place, const Content& content);
    void hide() { body_ = {}; } // it is not on show: nothing of it is under the mouse
    // Moves in rows and columns; a click chooses a row.
    bool key(const Key& key, int rows);
    // A click on the row that is chosen already: it is wanted.
    [[nodiscard]] bool is_on_chosen(const Key& key) const
    {
        return key.code == Key::click && body_.contains(key.row, key.column)
            && body_.row + list.selected - list.top == key.row;
    }
    // The column under the mouse; -1: none. The same of a click on its heading.
    [[nodiscard]] int column_at(const Key& key) const;
    [[nodiscard]] int heading_at(const Key& key) const
    {
        return key.code == Key::click && key.row == body_.row - 1 ? column_at(key) : -1;
    }

private:
    std::vector<Column> columns_;
    int fixed_; // columns at the left that stay
    int first_ = 0; // of the others
    Rect body_; // as drawn last
    struct Head {
        int column, left, width;
    };
    std::vector<Head> heads_; // as drawn last
    bool cut_ = false; // columns at the right had no room
};

} // namespace fourfold::tui
