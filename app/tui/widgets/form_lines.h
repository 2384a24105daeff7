// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of a form, each with its name and an example, one of which is typed into.
#pragma once

#include "app/tui/terminal/canvas.h"
#include "app/tui/terminal/key.h"
#include "app/tui/widgets/input_line.h"

#include <string>
#include <vector>

namespace fourfold::tui {

class FormLines {
public:
    struct Line {
        std::string name, example;
        InputLine input;
    };
    std::vector<Line> lines;
    int at = 0; // that is typed in; behind the last: what stands below the lines

    [[nodiscard]] bool is_behind() const { return at >= static_cast<int>(lines.size()); }
    [[nodiscard]] Line& here() { return lines[static_cast<std::size_t>(at)]; }
    [[nodiscard]] std::string text(const std::string& name) const; // empty where there is no such line
    // What stands in them is an offer: in each, what is typed first takes its place.
    void offer();
    // As many as have room in `place`, names in `name_columns` cells; the cursor is in the one that is typed in, where
    // `takes` keys. The row behind them.
    int draw(Canvas& canvas, const Rect& place, int name_columns, bool takes);
    // Tab and Shift+Tab through the lines and, with `has_below`, to what stands below; up, down and a click among the
    // lines. False: another key.
    bool move(const Key& key, bool has_below);
    // "Model, for example llama 405b: an empty line takes "x"; esc leaves"
    [[nodiscard]] std::string question() const;

private:
    Rect place_; // as drawn last
};

} // namespace fourfold::tui
