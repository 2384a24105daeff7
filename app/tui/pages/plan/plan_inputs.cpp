// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/plan/plan_inputs.h"

#include <algorithm>

namespace fourfold::tui {

namespace {
constexpr int kLabelColumns = 16;
constexpr int kUnbroken = 1000; // rows, where there is no screen
} // namespace

void PlanInputs::draw(Canvas& canvas, const Rect& place, bool focused)
{
    place_ = place;
    const view::PlanState& state = desk_.plan().state();
    if (!state.last_resolved()) {
        canvas.text_in(place.row, place.column + 1, place.columns - 1, "No plan that can be shown", kMuted);
        int row = place.row + 2;
        if (state.problem()) {
            for (const std::string& line : wrapped(state.problem()->line(), place.columns - 2))
                canvas.text(row++, place.column + 1, line, style_of(view::Tone::bad));
        }
        return;
    }
    const ResolvedPlan& plan = *state.last_resolved();
    const std::vector<const PlanInput*> inputs = plan_inputs(plan);
    fit(inputs, place.rows);
    for (int i = 0; i < place.rows && list_.top + i < static_cast<int>(inputs.size()); ++i) {
        const PlanInput& input = *inputs[static_cast<std::size_t>(list_.top + i)];
        const int row = place.row + i, fact_at = place.column + kLabelColumns + 13;
        const bool narrow = place.columns < kColumns - 1;
        const std::string fact = input.fact == nullptr ? "" : input.fact(plan);
        if (input.kind == PlanInput::heading) {
            const int behind = canvas.text(row, place.column, input.label, kHeading);
            canvas.text_in(row, behind + 1, place.column + place.columns - behind - 1, fact, kMuted, true);
            continue;
        }
        const bool broken = std::any_of(state.broken_rules().begin(), state.broken_rules().end(),
            [&](const Reason& reason) { return reason.field == input.path; });
        const bool chosen = list_.top + i == list_.selected;
        canvas.text_in(
            row, place.column + 1, kLabelColumns - 1, input.label, broken ? style_of(view::Tone::bad) : Style{});
        const int room = fact.empty() || narrow ? place.columns - kLabelColumns - 1 : 12;
        canvas.text_in(
            row, place.column + kLabelColumns, room, input.value(plan), broken ? style_of(view::Tone::bad) : kBold);
        if (!narrow)
            canvas.text_in(row, fact_at, place.column + place.columns - fact_at, fact, kMuted);
        if (chosen) {
            const Style style = focused ? kReverse : Style{Ink::normal, Ink::normal, true, false, true};
            canvas.restyle({row, place.column, 1, focused ? place.columns : kLabelColumns + room}, style);
        }
    }
}

void PlanInputs::fit(const std::vector<const PlanInput*>& inputs, int rows)
{
    list_.fit(static_cast<int>(inputs.size()), rows);
    if (inputs[static_cast<std::size_t>(list_.selected)]->kind == PlanInput::heading)
        ++list_.selected; // the first one
}

bool PlanInputs::key(const Key& key)
{
    if (!desk_.plan().state().last_resolved())
        return false;
    const std::vector<const PlanInput*> inputs = plan_inputs(*desk_.plan().state().last_resolved());
    const int count = static_cast<int>(inputs.size()), before = list_.selected;
    const PlanInput& input = *inputs[static_cast<std::size_t>(std::clamp(before, 0, count - 1))];
    if (key.is('+') || key.is('=') || key.code == Key::right || key.is('l')) {
        step_input(desk_, input, 1);
    } else if (key.is('-') || key.code == Key::left || key.is('h')) {
        step_input(desk_, input, -1);
    } else if (key.code == Key::enter || key.is(' ') || key.is('i')) {
        edit_input(desk_, input);
    } else if (key.code == Key::character && !key.ctrl && key.letter >= U'0' && key.letter <= U'9') {
        return false; // pages
    } else if (list_.key(key, count)) {
        // Over a heading to what lies behind it.
        const int step = list_.selected < before ? -1 : 1;
        while (list_.selected > 0 && list_.selected < count - 1
            && inputs[static_cast<std::size_t>(list_.selected)]->kind == PlanInput::heading)
            list_.selected += step;
    } else {
        return false;
    }
    return true;
}

bool PlanInputs::choose_at(const Key& key)
{
    const int at = list_.top + key.row - place_.row;
    return std::exchange(list_.selected, at) == at;
}

std::string PlanInputs::remark() const
{
    const std::optional<ResolvedPlan>& plan = desk_.plan().state().last_resolved();
    if (!plan)
        return {};
    const std::vector<const PlanInput*> inputs = plan_inputs(*plan);
    const PlanInput& input
        = *inputs[static_cast<std::size_t>(std::clamp(list_.selected, 0, static_cast<int>(inputs.size()) - 1))];
    const std::string fact = input.fact == nullptr ? "" : input.fact(*plan);
    return std::string(input.label) + " " + (input.value == nullptr ? "" : input.value(*plan))
        + (fact.empty() ? "" : ": " + fact);
}

std::vector<std::string> PlanInputs::lines()
{
    const std::optional<ResolvedPlan>& plan = desk_.plan().state().last_resolved();
    if (!plan)
        return {};
    const std::vector<const PlanInput*> inputs = plan_inputs(*plan);
    std::vector<std::string> lines;
    for (const PlanInput* input : inputs) {
        const std::string fact = input->fact == nullptr ? "" : input->fact(*plan);
        if (input->kind == PlanInput::heading)
            lines.push_back(std::string(input->label) + ": " + fact);
        else
            lines.push_back(std::string(input->label) + " " + input->value(*plan) + (fact.empty() ? "" : ", " + fact));
    }
    fit(inputs, kUnbroken);
    return lines;
}

} // namespace fourfold::tui
