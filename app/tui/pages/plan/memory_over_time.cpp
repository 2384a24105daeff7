// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/plan/memory_over_time.h"

#include "app/tui/pages/plan/memory_kinds.h"
#include "app/view/prediction/memory_columns.h"
#include "app/view/text.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace fourfold::tui {

std::string MemoryOverTime::said() const
{
    return "P" + std::to_string(curve_.stage) + " over the step: peak " + view::gib(curve_.peak_gib) + " GiB at "
        + view::duration(curve_.peak_s) + (curve_.shortened ? ", of fewer micro-batches" : "");
}

std::string MemoryOverTime::reading() const
{
    const MemoryPoint* const point = cursor_ ? view::memory_point_at(curve_, *cursor_) : nullptr;
    if (point == nullptr)
        return desk_.keyed("GiB allocated; `h l` read off, `m` back to the stages");
    std::string text = view::duration(*cursor_) + ": " + view::gib(point->total());
    for (std::size_t kind = 0; kind < std::size(kMemoryLooks); ++kind)
        text += std::string(", ") + kMemoryLooks[kind].label + " " + view::gib(point->gib[kind]);
    return text;
}

void MemoryOverTime::show(std::shared_ptr<const Prediction> prediction, int stage)
{
    if (prediction == prediction_ && stage == stage_)
        return;
    prediction_ = std::move(prediction);
    stage_ = stage;
    curve_ = memory_over_time(*prediction_, stage);
    length_s_ = prediction_->timeline.length_s;
}

void MemoryOverTime::draw(Canvas& canvas, const Rect& place, const Look& look)
{
    canvas.text_in(place.row, place.column, place.columns, said(), kMuted);
    const int rows = place.rows - 3;
    const double usable = prediction_->memory_capacity_gib, top = view::memory_top(curve_, usable);
    const std::string high = view::gib(top);
    const int label = width_of(high) + 1, columns = place.columns - label;
    if (curve_.points.empty() || !(length_s_ > 0) || rows < 2 || columns < 8) {
        canvas.text_in(place.row + 1, place.column, place.columns, "No memory over time of this plan", kMuted);
        return;
    }
    const int first = place.row + 1, left = place.column + label;
    canvas.text_in(first, place.column, label - 1, high, kMuted, true);
    canvas.text_in(first + rows - 1, place.column, label - 1, "0", kMuted, true);
    const auto row_of
        = [&](double gib) { return first + rows - 1 - std::clamp(static_cast<int>(gib / top * rows), 0, rows - 1); };
    const std::vector<KindBytes> stacks = view::memory_columns(curve_, length_s_, columns);
    const int at = cursor_ ? std::clamp(static_cast<int>(*cursor_ / length_s_ * columns), 0, columns - 1) : -1;
    for (int x = 0; x < columns; ++x) {
        const KindBytes& stack = stacks[static_cast<std::size_t>(x)];
        for (int y = 0; y < rows; ++y) {
            // Whatever the middle of the cell lies in.
            double rest = (rows - y - 0.5) / rows * top;
            for (std::size_t kind = 0; kind < std::size(kMemoryLooks); ++kind) {
                rest -= stack[kind];
                if (rest <= 0) {
                    put_fill(canvas, first + y, left + x, kMemoryLooks[kind].fill, look);
                    break;
                }
            }
        }
    }
    const auto bound = [&](double gib, const std::string& text, const Style& style) {
        const int row = row_of(gib);
        for (int x = 0; x < columns; ++x)
            canvas.put(row, left + x, U'\u2500', style);
        canvas.text_in(row, left, columns, " " + text, style, true);
    };
    if (view::shows_beyond(curve_))
        bound(curve_.peak_gib + curve_.beyond_gib,
            view::gib(curve_.peak_gib + curve_.beyond_gib) + " with fragmentation", kMuted);
    if (usable > 0 && usable <= top)
        bound(usable, view::gib(usable) + " usable", style_of(view::Tone::bad));
    if (at >= 0)
        canvas.restyle({first, left + at, rows, 1}, kReverse);
    canvas.text_in(first + rows, left, columns, "0 s", kMuted);
    canvas.text_in(first + rows, left, columns, view::duration(length_s_), kMuted, true);
    canvas.text_in(first + rows + 1, place.column, place.columns, reading(), kMuted);
}

bool MemoryOverTime::key(const Key& key)
{
    const bool back = key.code == Key::left || key.is('h');
    if (curve_.points.empty() || (!back && key.code != Key::right && !key.is('l')))
        return false;
    cursor_ = cursor_ ? view::next_memory_action(curve_, *cursor_, back ? -1 : 1)
                      : view::next_memory_action(curve_, back ? length_s_ : 0, 0);
    return true;
}

} // namespace fourfold::tui
