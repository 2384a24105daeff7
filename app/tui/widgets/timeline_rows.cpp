// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/widgets/timeline_rows.h"

#include "app/tui/widgets/bars.h"

#include <algorithm>
#include <numeric>

namespace fourfold::tui {

TimelineRows::Taken TimelineRows::taken_by_bar(int stage, double from, double to) const
{
    const auto [first, last] = scene.touching(stage, from, to);
    Taken taken;
    double most = 0, covered = 0;
    for (std::size_t i = first; i < last; ++i) {
        const view::TimelineBar& bar = scene.row(stage)[i];
        const double share = std::min(to, bar.end_s) - std::max(from, bar.start_s);
        if (share <= 0)
            continue;
        covered += share;
        if (share > most) {
            most = share;
            taken = {bar.kind, i};
        }
    }
    return covered * 2 >= to - from ? taken : Taken{};
}

std::vector<TimelineRows::Taken> TimelineRows::taken(int stage) const
{
    std::vector<Taken> taken(static_cast<std::size_t>(columns));
    if (stage >= scene.rows())
        return taken;
    const double cell = (end - begin) / columns;
    if (scene.grid(stage).is_fine(cell)) { // far more bars than cells
        std::vector<view::CoverageGrid::Coverage> covered(taken.size());
        scene.grid(stage).add(begin, end, covered);
        for (std::size_t i = 0; i < taken.size(); ++i) {
            const auto most = std::ranges::max_element(covered[i]);
            if (std::accumulate(covered[i].begin(), covered[i].end(), 0.0F) >= 0.5F)
                taken[i].kind = static_cast<view::BarKind>(most - covered[i].begin());
        }
        return taken;
    }
    for (std::size_t i = 0; i < taken.size(); ++i) {
        const double from = begin + cell * double(i);
        taken[i] = taken_by_bar(stage, from, from + cell);
    }
    return taken;
}

void TimelineRows::draw_stage(
    Canvas& canvas, int row, int stage, const Look& look, const view::BarRef* chosen, int micro_batch) const
{
    const std::vector<Taken> cells = taken(stage);
    const bool plain = look.colors && !look.few;
    const double cell = (end - begin) / columns;
    constexpr Style kChosen{Ink::normal, Ink::normal, true, true, true};
    std::size_t before = kNone;
    bool is_marked = false;
    for (int column = 0; column < columns; ++column) {
        const Taken& here = cells[static_cast<std::size_t>(column)];
        if (!here.kind) {
            canvas.put(row, left + column, U'\u00b7', kMuted);
            before = kNone;
            continue;
        }
        const Fill& fill = kSpanFills[static_cast<std::size_t>(*here.kind)];
        const view::TimelineBar* const bar = here.index == kNone ? nullptr : &scene.row(stage)[here.index];
        const bool is_chosen = bar != nullptr && chosen != nullptr && *chosen == view::BarRef{stage, here.index};
        is_marked = is_marked || is_chosen;
        Style style = look.few ? area_style(fill.ink) : Style{};
        if (plain)
            style = {fill.ink, Ink::normal, false, true}; // the paper has the colour, the text the background's
        if (is_chosen)
            style = kChosen;
        else if (bar != nullptr && micro_batch >= 0
            && bar->microBatch == micro_batch) // the way of the chosen one's micro-batch, in all stages
            style.bold = style.underline = true;
        canvas.put(row, left + column, plain ? U' ' : fill.pattern, style);
        if (bar != nullptr && here.index != before && bar->microBatch >= 0) { // its number where it begins and has room
            const std::string number = std::to_string(bar->microBatch);
            if ((bar->end_s - std::max(bar->start_s, begin)) / cell >= double(number.size()) + 1) {
                for (std::size_t i = 0; i < number.size() && column + 1 < columns; ++i, ++column)
                    canvas.put(row, left + column, static_cast<char32_t>(number[i]), style);
                --column;
            }
        }
        before = here.index;
    }
    if (chosen == nullptr || chosen->row != stage || is_marked)
        return;
    // Too short for a cell of its own.
    const view::TimelineBar& bar = scene.bar(*chosen);
    const double at = ((bar.start_s + bar.end_s) / 2 - begin) / cell;
    if (at >= 0 && at < columns)
        canvas.put(row, left + static_cast<int>(at), kSpanFills[static_cast<std::size_t>(bar.kind)].pattern, kChosen);
}

void TimelineRows::draw_two(Canvas& canvas, int row, int stage) const
{
    const std::vector<Taken> above = taken(stage), below = taken(stage + 1);
    for (int column = 0; column < columns; ++column) {
        const Taken &upper = above[static_cast<std::size_t>(column)], &lower = below[static_cast<std::size_t>(column)];
        const auto ink = [](const Taken& taken) {
            return taken.kind ? kSpanFills[static_cast<std::size_t>(*taken.kind)].ink : Ink::normal;
        };
        if (upper.kind && lower.kind && ink(upper) == ink(lower)) // no paper: fewer bytes
            canvas.put(row, left + column, U'\u2588', {ink(upper)});
        else if (upper.kind)
            canvas.put(row, left + column, U'\u2580', {ink(upper), ink(lower)});
        else if (lower.kind)
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
