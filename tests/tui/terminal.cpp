// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/tui/terminal.h"

#include <algorithm>
#include <cstdlib>

namespace fourfold::test {

TerminalGrid::TerminalGrid(int rows, int columns)
    : rows_(rows)
    , columns_(columns)
    , bottom_(rows - 1)
    , cells_(static_cast<std::size_t>(rows * columns))
{
}

void TerminalGrid::resize(int rows, int columns)
{
    *this = TerminalGrid(rows, columns);
    alternate_ = true;
}

std::string TerminalGrid::row(int row) const
{
    std::string line;
    for (int column = 0; column < columns_; ++column) {
        if (at(row, column).character != 0)
            tui::append_utf8(line, at(row, column).character);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
}

std::string TerminalGrid::text() const
{
    std::string text;
    for (int i = 0; i < rows_; ++i)
        text += row(i) + "\n";
    return text;
}

std::string TerminalGrid::looks() const
{
    std::string text;
    for (int i = 0; i < rows_; ++i) {
        std::string line;
        for (int column = 0; column < columns_; ++column) {
            const std::string& look = at(i, column).look;
            const auto has = [&](const char* word) { return look.find(word) != std::string::npos; };
            line += has("r") ? 'r' : has("c") ? 'c' : has("u") ? 'u' : has("b") ? 'b' : '.';
        }
        line.erase(line.find_last_not_of('.') + 1);
        text += line + "\n";
    }
    return text;
}

bool TerminalGrid::has_colors() const
{
    return std::any_of(cells_.begin(), cells_.end(),
        [](const TerminalCell& cell) { return cell.look.find('c') != std::string::npos; });
}

std::string TerminalGrid::look() const
{
    return std::string(bold_ ? "b" : "") + (reverse_ ? "r" : "") + (underline_ ? "u" : "")
        + (ink_.empty() && paper_.empty() ? "" : "c" + ink_ + "/" + paper_);
}

void TerminalGrid::scroll(int top, int bottom, int lines)
{
    for (int i = 0; i < std::abs(lines); ++i) {
        const auto begin = cells_.begin() + top * columns_, end = cells_.begin() + (bottom + 1) * columns_;
        if (lines > 0) {
            std::move(begin + columns_, end, begin);
            std::fill(end - columns_, end, TerminalCell{});
        } else {
            std::move_backward(begin, end - columns_, end);
            std::fill(begin, begin + columns_, TerminalCell{});
        }
    }
}

void TerminalGrid::line_feed()
{
    if (row_ == bottom_)
        scroll(top_, bottom_, 1);
    else if (row_ < rows_ - 1)
        ++row_;
}

void TerminalGrid::put(char32_t character)
{
    const int width = tui::width_of(character);
    if (width == 0)
        return;
    if (wrap_next_) {
        column_ = 0;
        line_feed();
        wrap_next_ = false;
    }
    at(row_, column_) = {character, look()};
    if (width == 2 && column_ + 1 < columns_)
        at(row_, column_ + 1) = {0, look()};
    last_ = character;
    column_ += width;
    if (column_ >= columns_) {
        column_ = columns_ - 1;
        wrap_next_ = true;
    }
}

void TerminalGrid::set_look(const std::vector<int>& parameters)
{
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const int at = parameters[i];
        if (at == 0) {
            bold_ = reverse_ = underline_ = false;
            ink_.clear();
            paper_.clear();
        } else if (at == 1) {
            bold_ = true;
        } else if (at == 4) {
            underline_ = true;
        } else if (at == 7) {
            reverse_ = true;
        } else if (at == 22) {
            bold_ = false;
        } else if (at == 24) {
            underline_ = false;
        } else if (at == 27) {
            reverse_ = false;
        } else if (at == 39) {
            ink_.clear();
        } else if (at == 49) {
            paper_.clear();
        } else if ((at == 38 || at == 48) && i + 2 < parameters.size()) {
            (at == 38 ? ink_ : paper_) = std::to_string(parameters[i + 2]);
            i += 2;
        } else if ((at >= 30 && at <= 37) || (at >= 90 && at <= 97)) {
            ink_ = std::to_string(at);
        } else if ((at >= 40 && at <= 47) || (at >= 100 && at <= 107)) {
            paper_ = std::to_string(at);
        }
    }
}

void TerminalGrid::control(const std::string& sequence)
{
    const char last = sequence.back();
    std::string body = sequence.substr(2, sequence.size() - 3);
    const bool is_private = !body.empty() && (body[0] == '?' || body[0] == '>');
    if (is_private)
        body.erase(0, 1);
    std::vector<int> numbers;
    for (std::size_t begin = 0; begin <= body.size();) {
        const std::size_t end = std::min(body.find(';', begin), body.size());
        numbers.push_back(std::atoi(body.substr(begin, end - begin).c_str()));
        begin = end + 1;
    }
    const auto number
        = [&](std::size_t i, int otherwise) { return i < numbers.size() && numbers[i] > 0 ? numbers[i] : otherwise; };
    if (is_private) {
        for (const int mode : numbers) {
            if (mode == 1049 && (last == 'h' || last == 'l')) {
                alternate_ = last == 'h';
                std::fill(cells_.begin(), cells_.end(), TerminalCell{});
            } else if (mode == 25) {
                cursor_shown_ = last == 'h';
            }
        }
        return;
    }
    const auto clear = [&](int row, int from, int to) {
        for (int column = from; column < to; ++column)
            at(row, column) = {U' ', paper_.empty() ? "" : look()};
    };
    wrap_next_ = false;
    switch (last) {
    case 'A':
        row_ = std::max(0, row_ - number(0, 1));
        break;
    case 'B':
        row_ = std::min(rows_ - 1, row_ + number(0, 1));
        break;
    case 'C':
        column_ = std::min(columns_ - 1, column_ + number(0, 1));
        break;
    case 'D':
        column_ = std::max(0, column_ - number(0, 1));
        break;
    case 'G':
        column_ = std::min(columns_, number(0, 1)) - 1;
        break;
    case 'd':
        row_ = std::min(rows_, number(0, 1)) - 1;
        break;
    case 'H':
        row_ = std::min(rows_, number(0, 1)) - 1;
        column_ = std::min(columns_, number(1, 1)) - 1;
        break;
    case 'J':
        if (numbers[0] == 2) {
            for (int row = 0; row < rows_; ++row)
                clear(row, 0, columns_);
        } else if (numbers[0] == 0) {
            clear(row_, column_, columns_);
            for (int row = row_ + 1; row < rows_; ++row)
                clear(row, 0, columns_);
        }
        break;
    case 'K':
        clear(row_, numbers[0] == 0 ? column_ : 0, numbers[0] == 1 ? column_ + 1 : columns_);
        break;
    case 'X':
        clear(row_, column_, std::min(columns_, column_ + number(0, 1)));
        break;
    case 'P':
    case '@': {
        const auto begin = cells_.begin() + row_ * columns_ + column_, end = cells_.begin() + (row_ + 1) * columns_;
        const int count = std::min(number(0, 1), columns_ - column_);
        if (last == 'P') {
            std::move(begin + count, end, begin);
            std::fill(end - count, end, TerminalCell{});
        } else {
            std::move_backward(begin, end - count, end);
            std::fill(begin, begin + count, TerminalCell{});
        }
        break;
    }
    case 'L':
        scroll(row_, bottom_, -number(0, 1));
        break;
    case 'M':
        scroll(row_, bottom_, number(0, 1));
        break;
    case 'S':
        scroll(top_, bottom_, number(0, 1));
        break;
    case 'T':
        scroll(top_, bottom_, -number(0, 1));
        break;
    case 'b':
        for (int i = number(0, 1); i > 0; --i)
            put(last_);
        break;
    case 'n':
        if (numbers[0] == 5)
            answers_ += "\033[0n";
        break;
    case 'm':
        set_look(numbers);
        break;
    case 'r':
        top_ = number(0, 1) - 1;
        bottom_ = number(1, rows_) - 1;
        row_ = column_ = 0;
        break;
    default:
        break;
    }
}

// OSC ends with a bell, too.
std::size_t TerminalGrid::take_string(std::size_t at)
{
    const std::size_t bell = pending_[at + 1] == ']' ? pending_.find('\a', at) : std::string::npos;
    const std::size_t end = std::min(pending_.find("\033\\", at + 2), bell);
    if (end == std::string::npos)
        return 0;
    requests_.push_back(pending_.substr(at + 2, end - at - 2));
    return end + (end == bell ? 1 : 2);
}

std::pair<int, int> TerminalGrid::place_of(const std::string& text, int from) const
{
    for (int i = from; i < rows_; ++i) {
        const std::string line = row(i);
        if (const std::size_t found = line.find(text); found != std::string::npos)
            return {i, tui::width_of(line.substr(0, found))};
    }
    return {-1, -1};
}

void TerminalGrid::feed(const std::string& bytes)
{
    pending_ += bytes;
    std::size_t at = 0;
    while (at < pending_.size()) {
        const unsigned char byte = static_cast<unsigned char>(pending_[at]);
        if (byte == 27) {
            if (at + 1 >= pending_.size())
                break;
            if (pending_[at + 1] == '[') {
                std::size_t end = at + 2;
                while (end < pending_.size() && (pending_[end] < '@' || pending_[end] > '~'))
                    ++end;
                if (end >= pending_.size())
                    break;
                control(pending_.substr(at, end - at + 1));
                at = end + 1;
            } else if (pending_[at + 1] == ']' || pending_[at + 1] == 'P') {
                const std::size_t end = take_string(at);
                if (end == 0)
                    break;
                at = end;
            } else if (pending_[at + 1] == '(' || pending_[at + 1] == ')') {
                if (at + 2 >= pending_.size())
                    break;
                at += 3;
            } else {
                const char kind = pending_[at + 1];
                if (kind == 'M') {
                    if (row_ == top_)
                        scroll(top_, bottom_, -1);
                    else
                        --row_;
                } else if (kind == '7') {
                    saved_row_ = row_;
                    saved_column_ = column_;
                } else if (kind == '8') {
                    row_ = saved_row_;
                    column_ = saved_column_;
                }
                at += 2;
            }
            continue;
        }
        if (byte < 32 || byte == 127) {
            wrap_next_ = false;
            bells_ += byte == '\a' ? 1 : 0;
            if (byte == '\r')
                column_ = 0;
            else if (byte == '\n')
                line_feed();
            else if (byte == '\b')
                column_ = std::max(0, column_ - 1);
            ++at;
            continue;
        }
        const std::size_t length = byte < 0x80 ? 1 : byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
        if (at + length > pending_.size())
            break;
        std::string_view character(pending_.data() + at, length);
        put(tui::next_character(character));
        at += length;
    }
    pending_.erase(0, at);
}

} // namespace fourfold::test
