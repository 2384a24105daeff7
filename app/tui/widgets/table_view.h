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
    // Moves in rows and columns; a click chooses a row.
    bool key(const Key& key, int rows);

private:
    std::vector<Column> columns_;
    int fixed_; // columns at the left that stay
    int first_ = 0; // of the others
    Rect body_; // as drawn last
    bool cut_ = false; // columns at the right had no room
};

} // namespace fourfold::tui
