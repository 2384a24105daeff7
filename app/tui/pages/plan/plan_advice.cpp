// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/plan/plan_advice.h"

#include "app/view/plan/edits.h"

#include <optional>
#include <vector>

namespace fourfold::tui {

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
    list_.fit(static_cast<int>(all.size()), place.rows);
    const std::size_t to_fit = finder_.report() ? finder_.report()->to_fit.size() : 0;
    for (int i = 0; i < place.rows && list_.top + i < static_cast<int>(all.size()); ++i) {
        const auto index = static_cast<std::size_t>(list_.top + i);
        canvas.text(place.row + i, place.column, index < to_fit ? "fit" : "faster", kMuted);
        canvas.text_in(place.row + i, place.column + 8, place.columns - 8, view::advice_words(all[index]));
        if (focused && list_.top + i == list_.selected)
            canvas.restyle({place.row + i, place.column, 1, place.columns}, kReverse);
    }
}

bool PlanAdvice::key(const Key& key)
{
    const int count = static_cast<int>(finder_.all().size());
    const std::optional<bool> again = list_.click(key, place_, count);
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
