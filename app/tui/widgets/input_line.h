// SPDX-License-Identifier: GPL-3.0-or-later
// One line of text being typed.
#pragma once

#include "app/tui/terminal/canvas.h"
#include "app/tui/terminal/key.h"

#include <string>

namespace fourfold::tui {

class InputLine {
public:
    static constexpr std::size_t kMost = 4096; // bytes

    explicit InputLine(std::string text = {}, bool hidden = false);
    [[nodiscard]] const std::string& text() const { return text_; }
    void set(std::string text);
    // All of it is chosen: what is typed or pasted next takes its place; another key lets go of it.
    void choose_all() { chosen_ = !text_.empty(); }
    [[nodiscard]] std::size_t cursor() const { return cursor_; } // byte
    // [begin, cursor) becomes `word`, the cursor stands behind it.
    void replace(std::size_t begin, const std::string& word);
    // Typing, a paste, moving and erasing; false for other keys. A line end in a paste becomes a blank; what is beyond
    // kMost stays out, which refusal() then says.
    bool key(const Key& key);
    [[nodiscard]] const std::string& refusal() const { return refusal_; }
    // In `columns` cells, with the cursor of the canvas where it is typed; `here`: it has the keys.
    void draw(Canvas& canvas, int row, int column, int columns, Style style = {}, bool here = true) const;

private:
    void insert(std::string_view text);
    [[nodiscard]] std::size_t before(std::size_t at) const; // where the character before begins
    [[nodiscard]] std::size_t after(std::size_t at) const;

    std::string text_, refusal_;
    std::size_t cursor_ = 0; // byte
    bool hidden_, chosen_ = false; // chosen: all of the text
};

} // namespace fourfold::tui
