// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of a pipeline timeline in cells: a stage in a row, or two in a row of half blocks.
#pragma once

#include "app/tui/look.h"
#include "app/view/prediction/timeline_scene.h"

namespace fourfold::tui {

// How each kind of span looks, by its number.
inline constexpr Fill kSpanFills[view::kBarKinds]{{Ink::blue, U'f'}, {Ink::orange, U'b'}, {Ink::yellow, U'w'},
    {Ink::green, U'-'}, {Ink::vermilion, U'r'}, {Ink::purple, U'g'}, {Ink::sky, U'o'}, {Ink::grey, U'.'},
    {Ink::blue, U'm'}, {Ink::orange, U'a'}, {Ink::yellow, U'k'}, {Ink::green, U'c'}, {Ink::grey, U'='}};

// The part of a timeline from `begin` to `end` (seconds) in the columns from `left` on.
struct TimelineRows {
    const view::TimelineScene& scene;
    double begin = 0, end = 0;
    int left = 0, columns = 1;

    // `chosen`: stands out; null: none. `micro_batch`: its way is underlined; -1: none.
    void draw_stage(Canvas& canvas, int row, int stage, const Look& look, const view::BarRef* chosen = nullptr,
        int micro_batch = -1) const;
    void draw_two(Canvas& canvas, int row, int stage) const; // this one above, the next below; in colours
private:
    // What most of a cell's time goes to, with its index; null where the stage waits.
    [[nodiscard]] const view::TimelineBar* bar_in(int stage, int column, std::size_t& index) const;
};

// The names of the kinds that it has, from `column` on, as far as there is room.
void draw_timeline_legend(Canvas& canvas, const Rect& place, const view::TimelineScene& scene, const Look& look);

} // namespace fourfold::tui
