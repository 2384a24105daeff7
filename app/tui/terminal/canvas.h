// SPDX-License-Identifier: GPL-3.0-or-later
// A grid of character cells to draw on: what pages know of a terminal. Text is UTF-8; a wide character takes two cells
// and is never cut in half. What lies outside is left out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fourfold::tui {

// What a colour says; which one it is decides the screen, by what the terminal can show.
enum class Ink : std::uint8_t {
    normal,
    muted,
    accent,
    good,
    warning,
    bad,
    // of series, in the order of Okabe and Ito's palette, each told apart without colours by its pattern
    blue,
    orange,
    green,
    yellow,
    sky,
    vermilion,
    purple,
    grey,
    // of what is written on an area of a series
    dark,
    light,
    count
};

struct Style {
    Ink ink = Ink::normal;
    Ink paper = Ink::normal; // normal: the terminal's own background
    bool bold = false, reverse = false, underline = false;
    bool operator==(const Style&) const = default;
};

struct Cell {
    char32_t character = U' '; // 0: the right half of a wide character
    Style style;
    bool operator==(const Cell&) const = default;
};

struct Rect {
    int row = 0, column = 0, rows = 0, columns = 0;
    [[nodiscard]] bool contains(int at_row, int at_column) const
    {
        return at_row >= row && at_row < row + rows && at_column >= column && at_column < column + columns;
    }
};

// Cells that a character takes: 0 (combining), 1 or 2.
int width_of(char32_t character);
int width_of(std::string_view text);
// The next character of a UTF-8 text, which it is taken from; U+FFFD for what is none.
char32_t next_character(std::string_view& text);
void append_utf8(std::string& text, char32_t character);
// At most `columns` cells; what is cut ends in an ellipsis.
std::string fitted(std::string_view text, int columns);
// Without its middle: names that differ at their ends.
std::string fitted_in_middle(std::string_view text, int columns);
// Lines of at most `columns` cells, broken at blanks.
std::vector<std::string> wrapped(std::string_view text, int columns);
// The same of a line of things with two blanks between them, each of which stays whole where a line holds it: hints,
// names with their figures.
std::vector<std::string> wrapped_items(std::string_view line, int columns);

class Canvas {
public:
    Canvas() = default;
    Canvas(int rows, int columns);
    [[nodiscard]] int rows() const { return rows_; }
    [[nodiscard]] int columns() const { return columns_; }
    [[nodiscard]] Rect area() const { return {0, 0, rows_, columns_}; }
    [[nodiscard]] const Cell& at(int row, int column) const
    {
        return cells_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_)
            + static_cast<std::size_t>(column)];
    }

    void clear();
    void put(int row, int column, char32_t character, Style style = {});
    // Returns the column behind the text.
    int text(int row, int column, std::string_view text, Style style = {});
    // In at most `columns` cells (fitted()); `right`: at the right end of them.
    void text_in(int row, int column, int columns, std::string_view text, Style style = {}, bool right = false);
    void fill(const Rect& rect, char32_t character, Style style = {});
    // Changes how cells look, not what they say.
    void restyle(const Rect& rect, Style style);

    // Where the text cursor stands; a negative row: nowhere.
    int cursor_row = -1, cursor_column = 0;

private:
    [[nodiscard]] Cell& cell(int row, int column)
    {
        return cells_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_)
            + static_cast<std::size_t>(column)];
    }
    int rows_ = 0, columns_ = 0;
    std::vector<Cell> cells_;
};

} // namespace fourfold::tui
