// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/widgets/overlay.h"
#include "core/base/text.h"

#include <algorithm>
#include <utility>

namespace fourfold::tui {

namespace {
constexpr int kNoBreaks = 1'000'000; // columns: the reader breaks lines
}

Pager::Pager(std::string title, std::string text)
    : title_(std::move(title))
    , text_(std::move(text))
{
}

void Pager::draw(Canvas& canvas, const Look&)
{
    const int columns = columns_in(canvas);
    if (columns != columns_) {
        columns_ = columns;
        lines_ = wrapped(text_, columns);
    }
    const Rect inside
        = draw_frame(canvas, std::min(static_cast<int>(lines_.size()) + 1, canvas.rows() - 2), columns, title_);
    rows_ = std::max(1, inside.rows - 1);
    top_ = std::clamp(top_, 0, std::max(0, static_cast<int>(lines_.size()) - rows_));
    for (int i = 0; i < rows_ && top_ + i < static_cast<int>(lines_.size()); ++i) {
        const std::string& line = lines_[static_cast<std::size_t>(top_ + i)];
        const bool heading = line.starts_with("# ");
        canvas.text_in(inside.row + i, inside.column, inside.columns, heading ? line.substr(2) : line,
            heading ? kHeading : Style{});
    }
    const bool more = static_cast<int>(lines_.size()) > rows_;
    canvas.text_in(inside.row + inside.rows - 1, inside.column, inside.columns,
        more ? text_of("lines %d to %d of %d; y copies, Esc closes", top_ + 1,
            std::min(top_ + rows_, static_cast<int>(lines_.size())), static_cast<int>(lines_.size()))
             : "y copies, Esc closes",
        kMuted);
}

std::string Pager::read_out()
{
    std::string text = title_ + "\n";
    for (const std::string& line : wrapped(text_, kNoBreaks))
        text += (line.starts_with("# ") ? line.substr(2) : line) + "\n";
    return text;
}

void Pager::answer(const std::string&)
{
    close();
}

void Pager::key(const Key& key)
{
    if (key.code == Key::escape || key.code == Key::enter || key.is('q') || key.is_ctrl('c') || key.is('?')) {
        close();
    } else if (key.code == Key::up || key.is('k')) {
        --top_;
    } else if (key.code == Key::down || key.is('j')) {
        ++top_;
    } else if (key.code == Key::page_up || key.is_ctrl('b')) {
        top_ -= rows_;
    } else if (key.code == Key::page_down || key.is(' ') || key.is_ctrl('f')) {
        top_ += rows_;
    } else if (key.code == Key::wheel_up || key.code == Key::wheel_down) {
        top_ += key.code == Key::wheel_up ? -3 : 3;
    } else if (key.code == Key::home || key.is('g')) {
        top_ = 0;
    } else if (key.code == Key::end || key.is('G')) {
        top_ = static_cast<int>(lines_.size());
    }
}

} // namespace fourfold::tui
