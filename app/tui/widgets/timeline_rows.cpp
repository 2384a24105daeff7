// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/widgets/timeline_rows.h"

#include "app/tui/widgets/bars.h"

#include <algorithm>

namespace fourfold::tui {

const view::TimelineBar* TimelineRows::bar_in(int stage, int column, std::size_t& index) const
{
    if (stage >= scene.rows())
        return nullptr;
    const double cell = (end - begin) / columns, from = begin + cell * column, to = from + cell;
    const auto [first, last] = scene.touching(stage, from, to);
    const view::TimelineBar* best = nullptr;
    double most = 0, covered = 0;
    for (std::size_t i = first; i < last; ++i) {
        const view::TimelineBar& bar = scene.row(stage)[i];
        const double share = std::min(to, bar.end_s) - std::max(from, bar.start_s);
        if (share <= 0)
            continue;
        covered += share;
        if (share > most) {
            most = share;
            best = &bar;
            index = i;
        }
    }
    return covered * 2 >= cell ? best : nullptr;
}

void TimelineRows::draw_stage(
    Canvas& canvas, int row, int stage, const Look& look, const view::BarRef* chosen, int micro_batch) const
{
    constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    std::size_t before = kNone;
    for (int column = 0; column < columns; ++column) {
        std::size_t index = kNone;
        const view::TimelineBar* bar = bar_in(stage, column, index);
        if (bar == nullptr) {
            canvas.put(row, left + column, U'\u00b7', kMuted);
            before = kNone;
            continue;
        }
        const Fill& fill = kSpanFills[static_cast<std::size_t>(bar->kind)];
        const bool is_chosen = chosen != nullptr && *chosen == view::BarRef{stage, index};
        const bool plain = look.colors && !look.few;
        Style style = look.few ? area_style(fill.ink) : Style{};
        if (plain)
            style = {fill.ink, Ink::normal, false, true}; // the paper has the colour, the text the background's
        if (is_chosen)
            style = {Ink::normal, Ink::normal, true, true, true};
        else if (micro_batch >= 0
            && bar->microBatch == micro_batch) // the way of the chosen one's micro-batch, in all stages
            style.bold = style.underline = true;
        canvas.put(row, left + column, plain ? U' ' : fill.pattern, style);
        const double cell = (end - begin) / columns;
        if (index != before && bar->microBatch >= 0) { // its number where it begins and has room
            const std::string number = std::to_string(bar->microBatch);
            if ((bar->end_s - std::max(bar->start_s, begin)) / cell >= double(number.size()) + 1) {
                for (std::size_t i = 0; i < number.size() && column + 1 < columns; ++i, ++column)
                    canvas.put(row, left + column, static_cast<char32_t>(number[i]), style);
                --column;
            }
        }
        before = index;
    }
}

void TimelineRows::draw_two(Canvas& canvas, int row, int stage) const
{
    std::size_t index = 0;
    for (int column = 0; column < columns; ++column) {
        const view::TimelineBar *upper = bar_in(stage, column, index), *lower = bar_in(stage + 1, column, index);
        const auto ink = [](const view::TimelineBar* bar) {
            return bar == nullptr ? Ink::normal : kSpanFills[static_cast<std::size_t>(bar->kind)].ink;
        };
        if (upper != nullptr && lower != nullptr && ink(upper) == ink(lower)) // no paper: fewer bytes
            canvas.put(row, left + column, U'\u2588', {ink(upper)});
        else if (upper != nullptr)
            canvas.put(row, left + column, U'\u2580', {ink(upper), ink(lower)});
        else if (lower != nullptr)
            canvas.put(row, left + column, U'\u2584', {ink(lower)});
    }
}

void draw_timeline_legend(Canvas& canvas, const Rect& place, const view::TimelineScene& scene, const Look& look)
{
    int column = place.column;
    for (std::size_t i = 0; i < view::kBarKinds; ++i) {
        const auto kind = static_cast<view::BarKind>(i);
        if (scene.has(kind) && column + width_of(name(kind)) + 2 <= place.column + place.columns)
            column = draw_legend(canvas, place.row, column, kSpanFills[i], name(kind), look);
    }
}

} // namespace fourfold::tui
