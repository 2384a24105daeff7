// SPDX-License-Identifier: GPL-3.0-or-later
// Where a person is in a list that may be longer than its place: the chosen row and the first one on show.
#pragma once

#include "app/tui/terminal/canvas.h"
#include "app/tui/terminal/key.h"

#include <algorithm>
#include <optional>

namespace fourfold::tui {

class List {
public:
    int selected = 0, top = 0;

    // Keeps both in [0, count), with the chosen row among `rows` on show.
    void fit(int count, int rows)
    {
        rows_ = std::max(rows, 1);
        selected = std::clamp(selected, 0, std::max(0, count - 1));
        top = std::clamp(top, std::max(0, selected - rows_ + 1), selected);
        top = std::clamp(top, 0, std::max(0, count - rows_));
    }
    // Arrows, j and k, pages, g and G, the wheel; false for other keys.
    bool key(const Key& key, int count)
    {
        const int before = selected;
        if (key.code == Key::up || key.is('k'))
            --selected;
        else if (key.code == Key::down || key.is('j'))
            ++selected;
        else if (key.code == Key::page_up || key.is_ctrl('b'))
            selected -= rows_;
        else if (key.code == Key::page_down || key.is_ctrl('f'))
            selected += rows_;
        else if (key.code == Key::home || key.is('g'))
            selected = 0;
        else if (key.code == Key::end || key.is('G'))
            selected = count - 1;
        else if (key.code == Key::wheel_up)
            selected -= 3;
        else if (key.code == Key::wheel_down)
            selected += 3;
        else
            return false;
        selected = std::clamp(selected, 0, std::max(0, count - 1));
        return before != selected || key.code != Key::none;
    }

    // A click on the entries in `place`, each so many rows high, chooses one; whether that was the chosen one already.
    // Empty: there is none.
    std::optional<bool> click(const Key& key, const Rect& place, int count, int each = 1)
    {
        if (key.code != Key::click || !place.contains(key.row, key.column))
            return {};
        const int at = top + (key.row - place.row) / each;
        if (at >= count)
            return {};
        const bool again = at == selected;
        selected = at;
        return again;
    }

private:
    int rows_ = 10;
};

} // namespace fourfold::tui
