// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/widgets/table_view.h"

#include <algorithm>

namespace fourfold::tui {

void TableView::draw(Canvas& canvas, const Rect& place, const Content& content)
{
    body_ = {place.row + 1, place.column, place.rows - 1, place.columns};
    list.fit(content.rows, body_.rows);
    const int shown = std::clamp(content.rows - list.top, 0, std::max(0, body_.rows));
    const int count = static_cast<int>(columns_.size());
    first_ = std::clamp(first_, 0, std::max(0, count - fixed_ - 1));
    int column = place.column;
    const int behind = place.column + place.columns;
    cut_ = false;
    heads_.clear();
    struct Drawn {
        int column;
        std::string title;
        std::vector<std::string> texts;
        int width, wanted; // at most Column::most; what its texts take
    };
    std::vector<Drawn> all;
    int spare = place.columns;
    for (int i = 0; i < count; ++i) {
        if (i >= fixed_ && i < fixed_ + first_)
            continue;
        const Column& at = columns_[static_cast<std::size_t>(i)];
        const bool sorted = content.sorted == i;
        Drawn drawn{i, sorted ? at.title + (content.falling ? "\u2193" : "\u2191") : at.title, {}, 0, 0};
        drawn.width = drawn.wanted = width_of(drawn.title);
        for (int row = 0; row < shown; ++row) {
            drawn.texts.push_back(content.text(list.top + row, i));
            const int width = width_of(drawn.texts.back());
            drawn.width = std::max(drawn.width, std::min(at.most, width));
            drawn.wanted = std::max(drawn.wanted, width);
        }
        spare -= drawn.width + (all.empty() ? 0 : 2);
        all.push_back(std::move(drawn));
    }
    for (Drawn& drawn : all) { // where all have room, what is cut has more of it
        const int more = std::clamp(drawn.wanted - drawn.width, 0, std::max(0, spare));
        drawn.width += more;
        spare -= more;
    }
    for (const Drawn& drawn : all) {
        const int i = drawn.column;
        const Column& at = columns_[static_cast<std::size_t>(i)];
        int width = drawn.width;
        if (column + width > behind) {
            cut_ = true;
            width = behind - column;
            if (width < 4)
                break;
        }
        heads_.push_back({i, column, width});
        const auto cut = [&](const std::string& text) { return at.of_names ? fitted_in_middle(text, width) : text; };
        canvas.text_in(place.row, column, width, cut(drawn.title), content.sorted == i ? kHeading : kBold, at.right);
        for (int row = 0; row < shown; ++row) {
            const Style style = content.style ? content.style(list.top + row, i) : Style{};
            canvas.text_in(
                body_.row + row, column, width, cut(drawn.texts[static_cast<std::size_t>(row)]), style, at.right);
        }
        column += width + 2;
    }
    for (int row = 0; content.marked && row < shown; ++row) {
        if (content.marked(list.top + row))
            canvas.put(body_.row + row, place.column - 1, U'\u25cf', kAccent);
    }
    if (shown > 0) {
        const int row = body_.row + list.selected - list.top;
        if (content.focused)
            canvas.restyle({row, place.column, 1, place.columns}, kReverse);
        else
            canvas.restyle({row, place.column, 1, place.columns}, kBold);
    }
}

int TableView::column_at(const Key& key) const
{
    if (body_.columns == 0)
        return -1;
    const auto found = std::ranges::find_if(
        heads_, [&key](const Head& head) { return key.column >= head.left && key.column < head.left + head.width; });
    return found == heads_.end() ? -1 : found->column;
}

bool TableView::key(const Key& key, int rows)
{
    if (key.code == Key::click)
        return list.click(key, body_, rows).has_value();
    if (key.code == Key::left || key.is('h')) {
        first_ = std::max(0, first_ - 1);
        return true;
    }
    if (key.code == Key::right || key.is('l')) {
        if (cut_)
            ++first_;
        return true;
    }
    return list.key(key, rows);
}

} // namespace fourfold::tui
