// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/terminal/canvas.h"

#include "app/tui/terminal/glyphs.h"

#include <algorithm>
#include <array>

namespace fourfold::tui {

namespace {
struct Characters {
    char32_t first, last;
};
template <std::size_t count>
bool is_among(const std::array<Characters, count>& ranges, char32_t character)
{
    return std::any_of(ranges.begin(), ranges.end(),
        [character](const Characters& range) { return character >= range.first && character <= range.last; });
}
// Unicode's combining marks and East Asian wide characters, as far as terminals agree on them (UAX 11).
constexpr std::array<Characters, 9> kNoWidth{{{0x300, 0x36F}, {0x483, 0x489}, {0x591, 0x5BD}, {0x610, 0x61A},
    {0x64B, 0x65F}, {0x200B, 0x200F}, {0x20D0, 0x20F0}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}}};
constexpr std::array<Characters, 14> kWide{{{0x1100, 0x115F}, {0x2E80, 0x303E}, {0x3041, 0x33FF}, {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF}, {0xA000, 0xA4CF}, {0xAC00, 0xD7A3}, {0xF900, 0xFAFF}, {0xFE30, 0xFE6F}, {0xFF00, 0xFF60},
    {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}}};
// Control characters, and those that turn the direction of writing: a terminal would obey them.
constexpr std::array<Characters, 5> kObeyed{
    {{0x1, 0x1F}, {0x7F, 0x9F}, {0x61C, 0x61C}, {0x2028, 0x202E}, {0x2066, 0x206F}}};
bool in_ascii = false; // a program has one screen
} // namespace

void write_in_ascii(bool on)
{
    in_ascii = on;
}

int width_of(char32_t character)
{
    if (character < 0x300)
        return 1;
    if (in_ascii && !ascii_pair_of(character).empty())
        return 2;
    return is_among(kNoWidth, character) ? 0 : is_among(kWide, character) ? 2 : 1;
}

int width_of(std::string_view text)
{
    int width = 0;
    while (!text.empty())
        width += width_of(next_character(text));
    return width;
}

char32_t next_character(std::string_view& text)
{
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned char first = byte(0);
    const std::size_t length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 1;
    bool whole = length <= text.size() && (first < 0x80 || first >= 0xC2) && first < 0xF5;
    for (std::size_t i = 1; whole && i < length; ++i)
        whole = (byte(i) & 0xC0) == 0x80;
    if (!whole) {
        text.remove_prefix(1);
        return U'\uFFFD';
    }
    char32_t character = length == 1 ? first : first & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i)
        character = (character << 6) | (byte(i) & 0x3F);
    text.remove_prefix(length);
    return character;
}

void append_utf8(std::string& text, char32_t character)
{
    const auto push = [&](char32_t value) { text.push_back(static_cast<char>(value)); };
    if (character < 0x80) {
        push(character);
    } else if (character < 0x800) {
        push(0xC0 | (character >> 6));
        push(0x80 | (character & 0x3F));
    } else if (character < 0x10000) {
        push(0xE0 | (character >> 12));
        push(0x80 | ((character >> 6) & 0x3F));
        push(0x80 | (character & 0x3F));
    } else {
        push(0xF0 | (character >> 18));
        push(0x80 | ((character >> 12) & 0x3F));
        push(0x80 | ((character >> 6) & 0x3F));
        push(0x80 | (character & 0x3F));
    }
}

std::string fitted(std::string_view text, int columns)
{
    if (columns <= 0)
        return {};
    if (width_of(text) <= columns)
        return std::string(text);
    std::string out;
    int used = 0;
    while (!text.empty()) {
        const char32_t character = next_character(text);
        const int width = width_of(character);
        if (used + width > columns - 1)
            break;
        append_utf8(out, character);
        used += width;
    }
    append_utf8(out, U'\u2026');
    return out;
}

std::string fitted_in_middle(std::string_view text, int columns)
{
    if (width_of(text) <= columns || columns < 3)
        return fitted(text, columns);
    std::vector<std::string> characters;
    std::vector<int> widths;
    while (!text.empty()) {
        const char32_t character = next_character(text);
        characters.emplace_back();
        append_utf8(characters.back(), character);
        widths.push_back(width_of(character));
    }
    const int behind = (columns - 1) / 2;
    std::string head, tail;
    std::size_t first = 0, last = characters.size();
    for (int room = columns - 1 - behind; first < last && widths[first] <= room; ++first) {
        head += characters[first];
        room -= widths[first];
    }
    for (int room = behind; last > first && widths[last - 1] <= room; --last) {
        tail.insert(0, characters[last - 1]);
        room -= widths[last - 1];
    }
    append_utf8(head, U'\u2026');
    return head + tail;
}

std::vector<std::string> wrapped(std::string_view text, int columns)
{
    std::vector<std::string> lines;
    columns = std::max(columns, 1);
    while (true) {
        const std::size_t end = text.find('\n');
        std::string_view paragraph = text.substr(0, end);
        std::string line;
        int used = 0;
        while (!paragraph.empty()) {
            const std::size_t blank = paragraph.find(' ', paragraph.find_first_not_of(' '));
            const std::string_view word = paragraph.substr(0, blank);
            const int width = width_of(word);
            if (used > 0 && used + width > columns) {
                lines.push_back(std::move(line));
                line.clear();
                used = 0;
                const std::size_t first = word.find_first_not_of(' ');
                paragraph.remove_prefix(first == std::string_view::npos ? word.size() : first);
                continue;
            }
            if (width > columns) { // a word that no line holds
                std::string_view rest = word;
                while (!rest.empty()) {
                    const std::string_view before = rest;
                    const char32_t character = next_character(rest);
                    if (used > 0 && used + width_of(character) > columns)
                        break;
                    append_utf8(line, character);
                    used += width_of(character);
                    paragraph.remove_prefix(before.size() - rest.size());
                }
                lines.push_back(std::move(line));
                line.clear();
                used = 0;
                continue;
            }
            line += word;
            used += width;
            paragraph.remove_prefix(word.size());
        }
        lines.push_back(std::move(line));
        if (end == std::string_view::npos)
            return lines;
        text.remove_prefix(end + 1);
    }
}

std::vector<std::string> wrapped_items(std::string_view line, int columns)
{
    constexpr std::string_view between = "  ";
    std::vector<std::string> lines(1);
    while (!line.empty()) {
        const std::size_t end = std::min(line.find(between), line.size());
        const std::string_view item = line.substr(0, end);
        line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
        if (item.empty())
            continue;
        if (lines.back().empty())
            lines.back() = item;
        else if (width_of(lines.back()) + static_cast<int>(between.size()) + width_of(item) <= columns)
            lines.back().append(between).append(item);
        else
            lines.emplace_back(item);
    }
    return lines;
}

Canvas::Canvas(int rows, int columns)
    : rows_(std::max(rows, 0))
    , columns_(std::max(columns, 0))
    , cells_(static_cast<std::size_t>(rows_) * static_cast<std::size_t>(columns_))
{
}

void Canvas::clear()
{
    std::fill(cells_.begin(), cells_.end(), Cell{});
    cursor_row = -1;
}

void Canvas::put(int row, int column, char32_t character, Style style)
{
    if (is_among(kObeyed, character))
        character = U'\uFFFD';
    const int width = width_of(character);
    if (row < 0 || row >= rows_ || column < 0 || column + width > columns_ || width == 0)
        return;
    // What is half covered is gone.
    if (cell(row, column).character == 0 && column > 0)
        cell(row, column - 1).character = U' ';
    const int behind = column + width;
    if (behind < columns_ && cell(row, behind).character == 0)
        cell(row, behind).character = U' ';
    cell(row, column) = {character, style};
    if (width == 2)
        cell(row, column + 1) = {0, style};
}

int Canvas::text(int row, int column, std::string_view text, Style style)
{
    while (!text.empty()) {
        const char32_t character = next_character(text);
        put(row, column, character, style);
        column += width_of(character);
    }
    return column;
}

void Canvas::text_in(int row, int column, int columns, std::string_view content, Style style, bool right)
{
    const std::string shown = fitted(content, columns);
    text(row, right ? column + columns - width_of(shown) : column, shown, style);
}

void Canvas::fill(const Rect& rect, char32_t character, Style style)
{
    for (int row = rect.row; row < rect.row + rect.rows; ++row)
        for (int column = rect.column; column < rect.column + rect.columns; ++column)
            put(row, column, character, style);
}

void Canvas::restyle(const Rect& rect, Style style)
{
    for (int row = std::max(rect.row, 0); row < std::min(rect.row + rect.rows, rows_); ++row)
        for (int column = std::max(rect.column, 0); column < std::min(rect.column + rect.columns, columns_); ++column)
            cell(row, column).style = style;
}

} // namespace fourfold::tui
