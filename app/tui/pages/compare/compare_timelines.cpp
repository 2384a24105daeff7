// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/compare/compare_timelines.h"

#include "app/tui/widgets/timeline_rows.h"
#include "app/view/compare/trace_difference.h"
#include "app/view/text.h"

#include <algorithm>

namespace fourfold::tui {

namespace {
constexpr std::size_t kMostTerms = 6;
}

void CompareTimelines::fit(std::size_t count, std::size_t reference)
{
    other_ %= std::max<std::size_t>(count, 1);
    if (other_ == reference && count > 1)
        other_ = (other_ + 1) % count;
}

std::vector<std::size_t> CompareTimelines::on_show(std::size_t count, std::size_t reference)
{
    fit(count, reference);
    return count < 2 ? std::vector<std::size_t>{reference} : std::vector<std::size_t>{reference, other_};
}

std::string CompareTimelines::said(const std::vector<NamedTimeline>& all, std::size_t reference)
{
    fit(all.size(), reference);
    if (all.size() < 2)
        return {};
    return all[reference].name + " \u2192 " + all[other_].name + ": "
        + view::trace_difference(*all[reference].timeline, *all[other_].timeline, kMostTerms);
}

void CompareTimelines::draw(
    Canvas& canvas, const Rect& place, const std::vector<NamedTimeline>& all, std::size_t reference, const Look& look)
{
    const std::string words = said(all, reference);
    if (words.empty()) {
        canvas.text_in(place.row, place.column, place.columns, "Two timelines are needed: a adds another", kMuted);
        return;
    }
    const std::array shown{&all[reference], &all[other_]};
    window_.setLength(std::max(shown[0]->timeline->length_s, shown[1]->timeline->length_s));
    int row = place.row;
    for (const std::string& line : wrapped(words, place.columns))
        canvas.text_in(row++, place.column, place.columns, line);
    constexpr int kLabel = 5;
    const int each = std::max(2, (place.row + place.rows - row - 1) / 2);
    const int left = place.column + kLabel, columns = std::max(1, place.columns - kLabel);
    for (const NamedTimeline* one : shown) {
        const view::TimelineScene scene(*one->timeline);
        const int behind = canvas.text(row, place.column, one->name, kBold) + 2;
        draw_timeline_legend(canvas, {row, behind, 1, place.column + place.columns - behind}, scene, look);
        const TimelineRows rows{scene, window_.begin(), window_.end(), left, columns};
        const bool two = look.colors && !look.few && scene.rows() > each - 1;
        for (int i = 0; i + 1 < each && i * (two ? 2 : 1) < scene.rows(); ++i) {
            const int stage = i * (two ? 2 : 1);
            canvas.text(row + 1 + i, place.column, "P" + std::to_string(stage), kMuted);
            if (two)
                rows.draw_two(canvas, row + 1 + i, stage);
            else
                rows.draw_stage(canvas, row + 1 + i, stage, look);
        }
        row += each;
    }
    canvas.text_in(row, left, columns, view::duration(window_.begin()), kMuted);
    canvas.text_in(row, left, columns, view::duration(window_.end()), kMuted, true);
}

bool CompareTimelines::key(const Key& key, std::size_t count)
{
    const double middle = (window_.begin() + window_.end()) / 2;
    if (key.is('[') || key.is(']'))
        other_ = (other_ + (key.is(']') ? 1 : std::max<std::size_t>(count, 1) - 1)) % std::max<std::size_t>(count, 1);
    else if (key.is('+') || key.is('='))
        window_.zoom(middle, 1.5);
    else if (key.is('-'))
        window_.zoom(middle, 1 / 1.5);
    else if (key.is('h') || key.code == Key::left)
        window_.pan(-0.25);
    else if (key.is('l') || key.code == Key::right)
        window_.pan(0.25);
    else if (key.is('0'))
        window_.fit();
    else
        return false;
    return true;
}

} // namespace fourfold::tui
