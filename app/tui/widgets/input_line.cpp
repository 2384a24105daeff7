// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/widgets/input_line.h"

#include "app/view/text.h"

#include <algorithm>
#include <utility>

namespace fourfold::tui {

InputLine::InputLine(std::string text, bool hidden)
    : hidden_(hidden)
{
    set(std::move(text));
}

void InputLine::set(std::string text)
{
    text_ = std::move(text);
    cursor_ = text_.size();
}

void InputLine::replace(std::size_t begin, const std::string& word)
{
    begin = std::min(begin, cursor_);
    text_.replace(begin, cursor_ - begin, word);
    cursor_ = begin + word.size();
}

std::size_t InputLine::before(std::size_t at) const
{
    while (at > 0 && (static_cast<unsigned char>(text_[--at]) & 0xC0) == 0x80) { }
    return at;
}

std::size_t InputLine::after(std::size_t at) const
{
    while (at < text_.size() && (static_cast<unsigned char>(text_[++at]) & 0xC0) == 0x80) { }
    return std::min(at, text_.size());
}

void InputLine::insert(std::string_view text)
{
    while (!text.empty()) {
        const char32_t character = next_character(text);
        std::string bytes;
        append_utf8(bytes, character == U'\n' || character == U'\t' ? U' ' : character);
        if (character < 32 && bytes != " ")
            continue;
        if (text_.size() + bytes.size() > kMost) {
            refusal_ = "a line holds " + view::grouped(double(kMost)) + " bytes: the rest was left out";
            return;
        }
        text_.insert(cursor_, bytes);
        cursor_ += bytes.size();
    }
}

bool InputLine::key(const Key& key)
{
    refusal_.clear();
    const bool types = key.code == Key::paste || (key.code == Key::character && !key.ctrl);
    const bool erases = key.code == Key::backspace || key.code == Key::erase;
    if (std::exchange(chosen_, false) && (types || erases)) {
        set({});
        if (erases)
            return true;
    }
    if (key.code == Key::paste) {
        std::string_view text = key.text;
        while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
            text.remove_suffix(1);
        insert(text);
        if (key.pasted > key.text.size() && refusal_.empty())
            refusal_ = "a paste of " + view::grouped(double(key.pasted)) + " bytes was cut";
    } else if (key.code == Key::character && !key.ctrl) {
        std::string bytes;
        append_utf8(bytes, key.letter);
        insert(bytes);
    } else if (key.code == Key::backspace) {
        const std::size_t from = before(cursor_);
        text_.erase(from, cursor_ - from);
        cursor_ = from;
    } else if (key.code == Key::erase) {
        text_.erase(cursor_, after(cursor_) - cursor_);
    } else if (key.code == Key::left) {
        cursor_ = before(cursor_);
    } else if (key.code == Key::right) {
        cursor_ = after(cursor_);
    } else if (key.code == Key::home || key.is_ctrl('a')) {
        cursor_ = 0;
    } else if (key.code == Key::end || key.is_ctrl('e')) {
        cursor_ = text_.size();
    } else if (key.is_ctrl('u')) {
        text_.erase(0, cursor_);
        cursor_ = 0;
    } else if (key.is_ctrl('w')) {
        std::size_t from = cursor_;
        while (from > 0 && text_[from - 1] == ' ')
            --from;
        while (from > 0 && text_[from - 1] != ' ')
            --from;
        text_.erase(from, cursor_ - from);
        cursor_ = from;
    } else {
        return false;
    }
    return true;
}

void InputLine::draw(Canvas& canvas, int row, int column, int columns, Style style, bool here) const
{
    canvas.fill({row, column, 1, columns}, U' ', style);
    // What is before the cursor is shown from where it fits.
    std::size_t begin = 0;
    while (width_of(std::string_view(text_).substr(begin, cursor_ - begin)) >= columns && begin < cursor_)
        begin = after(begin);
    const std::string_view shown = std::string_view(text_).substr(begin);
    const int at = column + width_of(shown.substr(0, cursor_ - begin));
    style.reverse = style.reverse || (chosen_ && here);
    if (hidden_)
        canvas.text_in(row, column, columns, std::string(static_cast<std::size_t>(width_of(shown)), '*'), style);
    else
        canvas.text_in(row, column, columns, shown, style);
    canvas.cursor_row = row;
    canvas.cursor_column = std::min(at, column + columns - 1);
}

} // namespace fourfold::tui
