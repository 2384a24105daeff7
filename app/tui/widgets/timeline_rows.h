// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of a timeline in cells: a stage, or a stream with its kernels, in a row, or two in a row of half blocks.
#pragma once

#include "app/tui/look.h"
#include "app/view/prediction/timeline_scene.h"

#include <optional>
#include <vector>

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
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    struct Taken { // what most of a cell's time goes to
        std::optional<view::BarKind> kind; // empty: it waits
        std::size_t index = kNone; // of the bar; kNone: of many bars, which nobody looked at one by one
    };
    [[nodiscard]] Taken taken_by_bar(int stage, double from, double to) const;
    [[nodiscard]] std::vector<Taken> taken(int stage) const; // a cell each
};

// The names of the kinds that it has, from `column` on, as far as there is room.
void draw_timeline_legend(Canvas& canvas, const Rect& place, const view::TimelineScene& scene, const Look& look);

} // namespace fourfold::tui
