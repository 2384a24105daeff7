// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/plan/plan_advice.h"

#include "app/view/plan/edits.h"
#include "core/base/text.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace fourfold::tui {

namespace {
constexpr int kKindColumns = 8; // "faster"
} // namespace

PlanAdvice::PlanAdvice(Desk& desk)
    : desk_(desk)
    , finder_(desk.wake())
{
}

void PlanAdvice::tick()
{
    finder_.follow(desk_.gives_advice && desk_.plan().is_answered() ? desk_.plan().prediction() : nullptr);
    finder_.tick();
}

void PlanAdvice::draw(Canvas& canvas, const Rect& place, bool focused)
{
    place_ = place;
    const std::vector<Advice>& all = finder_.all();
    if (all.empty()) {
        canvas.text_in(place.row, place.column, place.columns,
            finder_.is_looking() ? "Looking..." : "No single change would help", kMuted);
        return;
    }
    // As many rows each as the longest needs: what it brings stands at its end.
    const auto count = static_cast<int>(all.size());
    const int columns = place.columns - kKindColumns;
    constexpr int kMostRows = 3;
    rows_each_ = 1;
    for (const Advice& advice : all)
        rows_each_ = std::max(rows_each_, static_cast<int>(wrapped(view::advice_words(advice), columns).size()));
    rows_each_ = place.rows > kMostRows ? std::min(rows_each_, kMostRows) : 1;
    list_.fit(count, place.rows / rows_each_);
    const std::size_t to_fit = finder_.report() ? finder_.report()->to_fit.size() : 0;
    for (int i = 0; i < place.rows / rows_each_ && list_.top + i < count; ++i) {
        const auto index = static_cast<std::size_t>(list_.top + i);
        const int row = place.row + i * rows_each_;
        canvas.text(row, place.column, index < to_fit ? "fit" : "faster", kMuted);
        const std::string words = view::advice_words(all[index]);
        const std::vector<std::string> lines = wrapped(words, columns);
        const bool fits = lines.size() <= static_cast<std::size_t>(rows_each_);
        for (std::size_t line = 0; line < (fits ? lines.size() : 1); ++line)
            canvas.text_in(
                row + static_cast<int>(line), place.column + kKindColumns, columns, fits ? lines[line] : words);
        if (focused && list_.top + i == list_.selected)
            canvas.restyle({row, place.column, rows_each_, place.columns}, kReverse);
    }
    const int more = count - list_.top - place.rows / rows_each_;
    if (more > 0 && place.rows % rows_each_ > 0)
        canvas.text_in(
            place.row + place.rows - 1, place.column + kKindColumns, columns, text_of("%d more below", more), kMuted);
}

bool PlanAdvice::key(const Key& key)
{
    const int count = static_cast<int>(finder_.all().size());
    const std::optional<bool> again = list_.click(key, place_, count, rows_each_);
    if (key.code == Key::enter || again == true) {
        apply(static_cast<std::size_t>(list_.selected));
        return true;
    }
    return again || list_.key(key, count);
}

void PlanAdvice::apply(std::size_t index)
{
    if (index >= finder_.all().size())
        return;
    const PlanEdit edit = finder_.all()[index].edit; // the list goes with the change
    desk_.apply("Applied " + edit.summary, view::with_fields(desk_.plan().state().plan(), edit.fields));
}

std::string PlanAdvice::remark() const
{
    const auto chosen = static_cast<std::size_t>(list_.selected);
    return chosen < finder_.all().size() ? view::advice_words(finder_.all()[chosen]) : std::string();
}

} // namespace fourfold::tui
