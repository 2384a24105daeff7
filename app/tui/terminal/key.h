// SPDX-License-Identifier: GPL-3.0-or-later
// What a person does at a terminal: a key, a click, a paste.
#pragma once

#include <string>

namespace fourfold::tui {

struct Key {
    enum Code {
        none,
        character, // `letter`
        enter,
        escape,
        tab,
        back_tab,
        backspace,
        erase, // Del
        up,
        down,
        left,
        right,
        home,
        end,
        page_up,
        page_down,
        f1,
        f2,
        f5 = f1 + 4,
        f6 = f1 + 5,
        f10 = f1 + 9,
        click, // `row`, `column`
        drag, // to there, with the button held
        release, // there
        wheel_up,
        wheel_down,
        paste, // `text`
        resize,
        ignored, // of the mouse: another button
    };
    Code code = none;
    char32_t letter = 0;
    bool ctrl = false; // with `letter` in lower case
    int row = 0, column = 0; // of the mouse
    std::string text{};
    std::size_t pasted = 0; // bytes of the whole paste, of which `text` has the beginning

    [[nodiscard]] bool is_of_drag() const { return code == drag || code == release; }
    [[nodiscard]] bool is(char32_t wanted) const { return code == character && !ctrl && letter == wanted; }
    [[nodiscard]] bool is_ctrl(char32_t wanted) const { return code == character && ctrl && letter == wanted; }
};

} // namespace fourfold::tui
