// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/plan/plan_page.h"

#include "app/view/plan/edits.h"
#include "app/view/prediction/derivation.h"
#include "app/view/prediction/plan_charts.h"
#include "app/view/text.h"
#include "core/base/text.h"

#include <algorithm>

namespace fourfold::tui {

namespace {
constexpr int kInputColumns = 46, kFewInputColumns = 32, kLabelColumns = 16;
constexpr int kWideColumns = 116, kHighRows = 34; // where several pictures have room at once

// Of the pictures, in a row: all of them have to be there.
bool is_tight(int columns)
{
    return columns < 60;
}
int gap_between_names(int columns)
{
    return is_tight(columns) ? 1 : 2;
}
std::string name_of(const Panel& panel, int columns)
{
    const std::string name = panel.name();
    return is_tight(columns) && name == "Step time" ? "Time" : name;
}
} // namespace

PlanPage::PlanPage(Desk& desk)
    : Page(desk)
    , advice_(desk.wake())
{
    panels_.push_back(make_memory_panel(desk));
    panels_.push_back(make_time_panel(desk));
    panels_.push_back(make_timeline_panel(desk));
    panels_.push_back(make_mesh_panel(desk));
    panels_.push_back(make_bounds_panel(desk));
    panels_.push_back(make_training_panel(desk));
    panel_places_.resize(panels_.size() + 1);
}

void PlanPage::tick()
{
    advice_.follow(desk_.gives_advice && desk_.plan().is_answered() ? desk_.plan().prediction() : nullptr);
    advice_.tick();
}

void PlanPage::draw(Canvas& canvas, const Rect& place, const Look& look)
{
    // Where there is little room, what a field means is said in the line at the bottom.
    const int left = place.columns < 100 ? kFewInputColumns : kInputColumns;
    inputs_place_ = {place.row, place.column, place.rows, left - 1};
    draw_inputs(canvas, inputs_place_);
    for (int row = place.row; row < place.row + place.rows; ++row)
        canvas.put(row, place.column + left - 1, U'\u2502', kMuted);
    const Rect right{place.row, place.column + left + 1, place.rows, place.columns - left - 1};
    const int taken = draw_answer(canvas, right, look);
    draw_panels(canvas, {right.row + taken, right.column, right.rows - taken, right.columns}, look);
}

void PlanPage::draw_inputs(Canvas& canvas, const Rect& place)
{
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
    fit_inputs(inputs, place.rows);
    for (int i = 0; i < place.rows && inputs_.top + i < static_cast<int>(inputs.size()); ++i) {
        const PlanInput& input = *inputs[static_cast<std::size_t>(inputs_.top + i)];
        const int row = place.row + i, fact_at = place.column + kLabelColumns + 13;
        const bool narrow = place.columns < kInputColumns - 1;
        const std::string fact = input.fact == nullptr ? "" : input.fact(plan);
        if (input.kind == PlanInput::heading) {
            const int behind = canvas.text(row, place.column, input.label, kHeading);
            canvas.text_in(row, behind + 1, place.column + place.columns - behind - 1, fact, kMuted, true);
            continue;
        }
        const bool broken = std::any_of(state.broken_rules().begin(), state.broken_rules().end(),
            [&](const Reason& reason) { return reason.field == input.path; });
        const bool chosen = inputs_.top + i == inputs_.selected;
        canvas.text_in(
            row, place.column + 1, kLabelColumns - 1, input.label, broken ? style_of(view::Tone::bad) : Style{});
        const int room = fact.empty() || narrow ? place.columns - kLabelColumns - 1 : 12;
        canvas.text_in(
            row, place.column + kLabelColumns, room, input.value(plan), broken ? style_of(view::Tone::bad) : kBold);
        if (!narrow)
            canvas.text_in(row, fact_at, place.column + place.columns - fact_at, fact, kMuted);
        if (chosen) {
            const Style style = pane_ == Pane::inputs ? kReverse : Style{Ink::normal, Ink::normal, true, false, true};
            canvas.restyle({row, place.column, 1, pane_ == Pane::inputs ? place.columns : kLabelColumns + room}, style);
        }
    }
}

void PlanPage::fit_inputs(const std::vector<const PlanInput*>& inputs, int rows)
{
    inputs_.fit(static_cast<int>(inputs.size()), rows);
    if (inputs[static_cast<std::size_t>(inputs_.selected)]->kind == PlanInput::heading)
        ++inputs_.selected; // the first one
}

void PlanPage::draw_panels(Canvas& canvas, const Rect& place, const Look& look)
{
    panel_places_.assign(panels_.size() + 1, {});
    if (place.rows < 4)
        return;
    int column = place.column;
    for (std::size_t i = 0; i <= panels_.size(); ++i) {
        const std::string name = i < panels_.size() ? name_of(*panels_[i], place.columns) : "Advice";
        const bool on = i == panel_;
        const Style style{on ? Ink::accent : Ink::muted, Ink::normal, on, on && pane_ == Pane::panel, on};
        column = canvas.text(place.row, column, name, style) + gap_between_names(place.columns);
    }
    const Rect body{place.row + 1, place.column, place.rows - 1, place.columns};
    panel_place_ = body;
    const bool wide = canvas.columns() >= kWideColumns && canvas.rows() >= kHighRows;
    if (!wide) {
        draw_panel(canvas, body, panel_, look);
        return;
    }
    // The chosen one has the lower half; memory and time, which most people look at, stay in sight above it.
    const int upper = std::clamp(body.rows / 2 - 1, 6, 16), half = body.columns / 2 - 1;
    if (panel_ > 1)
        lower_ = panel_;
    draw_panel(canvas, {body.row, body.column, upper, half}, 0, look);
    draw_panel(canvas, {body.row, body.column + half + 2, upper, half}, 1, look);
    canvas.text(
        body.row + upper + 1, body.column, lower_ < panels_.size() ? panels_[lower_]->name() : "Advice", kMuted);
    draw_panel(canvas, {body.row + upper + 2, body.column, body.rows - upper - 2, body.columns}, lower_, look);
}

void PlanPage::draw_panel(Canvas& canvas, const Rect& place, std::size_t panel, const Look& look)
{
    panel_places_[panel] = place;
    if (panel == panels_.size())
        draw_advice(canvas, place);
    else if (prediction() != nullptr)
        panels_[panel]->draw(canvas, place, *prediction(), pane_ == Pane::panel && panel == panel_, look);
}

void PlanPage::draw_advice(Canvas& canvas, const Rect& place)
{
    const std::vector<Advice>& all = advice_.all();
    if (all.empty()) {
        canvas.text_in(place.row, place.column, place.columns,
            advice_.is_looking() ? "Looking..." : "No single change would help", kMuted);
        return;
    }
    advice_list_.fit(static_cast<int>(all.size()), place.rows);
    const std::size_t to_fit = advice_.report() ? advice_.report()->to_fit.size() : 0;
    for (int i = 0; i < place.rows && advice_list_.top + i < static_cast<int>(all.size()); ++i) {
        const auto index = static_cast<std::size_t>(advice_list_.top + i);
        canvas.text(place.row + i, place.column, index < to_fit ? "fit" : "faster", kMuted);
        canvas.text_in(place.row + i, place.column + 8, place.columns - 8, view::advice_words(all[index]));
        if (pane_ == Pane::panel && advice_list_.top + i == advice_list_.selected)
            canvas.restyle({place.row + i, place.column, 1, place.columns}, kReverse);
    }
}

bool PlanPage::key(const Key& key)
{
    if (key.code == Key::tab || key.code == Key::back_tab) {
        const int step = key.code == Key::tab ? 1 : 2;
        pane_ = static_cast<Pane>((static_cast<int>(pane_) + step) % 3);
    } else if (key.is('[') || key.is(']')) {
        const std::size_t count = panels_.size() + 1;
        panel_ = (panel_ + (key.is(']') ? 1 : count - 1)) % count;
    } else if (key.is('!')) {
        if (!desk_.plan().state().broken_rules().empty())
            use_nearest();
        else
            apply_advice(0);
    } else if (key.is('W')) {
        show_warnings();
    } else if (key.is('e')) {
        for (const Command& command : commands()) {
            if (command.keys == "e")
                command.run();
        }
    } else if (key.is('X')) {
        export_report();
    } else if (key.is('T')) {
        show_table();
    } else if (key.is('E')) {
        edit_any_field(desk_);
    } else if (key.is('I')) {
        desk_.files().ask_to_import_model();
    } else if (key.code == Key::click) {
        return click(key);
    } else if (key.is_of_drag() || key.code == Key::wheel_up || key.code == Key::wheel_down) {
        return (key.is_of_drag() ? pane_ == Pane::panel && panel_key(key) : panel_mouse(key))
            || (!key.is_of_drag() && pane_ == Pane::inputs && input_key(key));
    } else if (pane_ == Pane::inputs) {
        return input_key(key);
    } else if (pane_ == Pane::figures) {
        if (key.code == Key::enter && prediction() != nullptr) {
            open_derivation(desk_, *prediction(), view::kAnswerKeys[static_cast<std::size_t>(figures_.selected)]);
            return true;
        }
        return figures_.key(key, 5);
    } else {
        return panel_key(key);
    }
    return true;
}

bool PlanPage::panel_key(const Key& key)
{
    if (shows_advice())
        return advice_key(key);
    return prediction() != nullptr && panels_[panel_]->key(key, *prediction());
}

// The picture under the mouse has the keys from then on.
bool PlanPage::panel_mouse(const Key& key)
{
    for (std::size_t i = 0; i < panel_places_.size(); ++i) {
        if (!panel_places_[i].contains(key.row, key.column))
            continue;
        pane_ = Pane::panel;
        panel_ = i;
        return panel_key(key);
    }
    return false;
}

bool PlanPage::input_key(const Key& key)
{
    if (!desk_.plan().state().last_resolved())
        return false;
    const std::vector<const PlanInput*> inputs = plan_inputs(*desk_.plan().state().last_resolved());
    const int count = static_cast<int>(inputs.size()), before = inputs_.selected;
    const PlanInput& input = *inputs[static_cast<std::size_t>(std::clamp(before, 0, count - 1))];
    if (key.is('+') || key.is('=') || key.code == Key::right || key.is('l')) {
        step_input(desk_, input, 1);
    } else if (key.is('-') || key.code == Key::left || key.is('h')) {
        step_input(desk_, input, -1);
    } else if (key.code == Key::enter || key.is(' ') || key.is('i')) {
        edit_input(desk_, input);
    } else if (key.code == Key::character && !key.ctrl && key.letter >= U'0' && key.letter <= U'9') {
        return false; // pages
    } else if (inputs_.key(key, count)) {
        // Over a heading to what lies behind it.
        const int step = inputs_.selected < before ? -1 : 1;
        while (inputs_.selected > 0 && inputs_.selected < count - 1
            && inputs[static_cast<std::size_t>(inputs_.selected)]->kind == PlanInput::heading)
            inputs_.selected += step;
    } else {
        return false;
    }
    return true;
}

bool PlanPage::advice_key(const Key& key)
{
    const int count = static_cast<int>(advice_.all().size());
    const std::optional<bool> again = advice_list_.click(key, panel_places_.back(), count);
    if (key.code == Key::enter || again == true) {
        apply_advice(static_cast<std::size_t>(advice_list_.selected));
        return true;
    }
    return again || advice_list_.key(key, count);
}

bool PlanPage::click(const Key& key)
{
    if (inputs_place_.contains(key.row, key.column)) {
        const bool again = pane_ == Pane::inputs && inputs_.selected == inputs_.top + key.row - inputs_place_.row;
        pane_ = Pane::inputs;
        inputs_.selected = inputs_.top + key.row - inputs_place_.row;
        return again ? input_key({Key::enter}) : true;
    }
    if (figures_place_.contains(key.row, key.column)) {
        const bool again = pane_ == Pane::figures && figures_.selected == key.row - figures_place_.row;
        pane_ = Pane::figures;
        figures_.selected = key.row - figures_place_.row;
        return again ? this->key({Key::enter}) : true;
    }
    if (key.row == panel_place_.row - 1) {
        int column = panel_place_.column;
        for (std::size_t i = 0; i <= panels_.size(); ++i) {
            const int width = width_of(i < panels_.size() ? name_of(*panels_[i], panel_place_.columns) : "Advice");
            if (key.column >= column && key.column < column + width)
                panel_ = i;
            column += width + gap_between_names(panel_place_.columns);
        }
        pane_ = Pane::panel;
        return true;
    }
    if (!panel_mouse(key))
        pane_ = Pane::panel;
    return true;
}

void PlanPage::export_report()
{
    if (prediction() == nullptr)
        desk_.tell("There is nothing to report: the plan has no answer", view::Tone::warning);
    else
        desk_.exports().ask_for_report([p = desk_.plan().prediction(), title = desk_.plan().state().title()] {
            return view::plan_report(p, p->plan.name.empty() ? title : p->plan.name);
        });
}

void PlanPage::show_table()
{
    if (prediction() == nullptr)
        return;
    if (shows_advice())
        desk_.exports().show_table("Advice", advice_.table());
    else
        desk_.exports().show_table(panels_[panel_]->name(), panels_[panel_]->table(*prediction()));
}

void PlanPage::use_nearest()
{
    const Reason reason = desk_.plan().state().broken_rules().front();
    const Expected<Json> value = parse_json(reason.nearest, reason.field);
    if (reason.nearest.empty() || !value)
        desk_.tell("For " + reason.field + " no valid value is near", view::Tone::warning);
    else
        desk_.change(reason.field, *value);
}

void PlanPage::apply_advice(std::size_t index)
{
    if (index >= advice_.all().size())
        return;
    const PlanEdit edit = advice_.all()[index].edit; // the list goes with the change
    desk_.apply("Applied " + edit.summary, view::with_fields(desk_.plan().state().plan(), edit.fields));
}

std::string PlanPage::remark() const
{
    const std::optional<ResolvedPlan>& plan = desk_.plan().state().last_resolved();
    if (pane_ == Pane::panel && !shows_advice())
        return panels_[panel_]->remark();
    if (const auto chosen = static_cast<std::size_t>(advice_list_.selected);
        pane_ == Pane::panel && chosen < advice_.all().size())
        return view::advice_words(advice_.all()[chosen]);
    if (pane_ == Pane::figures && prediction() != nullptr) { // its formula and its largest terms
        const Expected<Explanation> why
            = explain(*prediction(), view::kAnswerKeys[static_cast<std::size_t>(figures_.selected)]);
        return why ? printable(view::explained_summary(*why), kUncut) : std::string();
    }
    if (!plan || pane_ != Pane::inputs)
        return {};
    const std::vector<const PlanInput*> inputs = plan_inputs(*plan);
    const PlanInput& input
        = *inputs[static_cast<std::size_t>(std::clamp(inputs_.selected, 0, static_cast<int>(inputs.size()) - 1))];
    const std::string fact = input.fact == nullptr ? "" : input.fact(*plan);
    return std::string(input.label) + " " + (input.value == nullptr ? "" : input.value(*plan))
        + (fact.empty() ? "" : ": " + fact);
}

std::string PlanPage::hints() const
{
    switch (pane_) {
    case Pane::inputs:
        return "+ - change  Enter edit  Tab pane  [ ] picture  ! advice  u undo";
    case Pane::figures:
        return "Enter why  Tab pane  [ ] picture  W warnings";
    case Pane::panel:
        break;
    }
    return (shows_advice() ? "Enter apply" : panels_[panel_]->hints()) + "  Tab pane  [ ] picture";
}

std::vector<Command> PlanPage::commands()
{
    std::vector<Command> commands{{"Apply what helps most, or the nearest valid value", "!",
                                      [this] {
                                          key({Key::character, U'!'});
                                      }},
        {"Warnings, and what the figures say", "W", [this] { show_warnings(); }},
        {"Edit any field of the plan", "E", [this] { edit_any_field(desk_); }},
        {"Import a Hugging Face model (config.json)", "I", [this] { desk_.files().ask_to_import_model(); }},
        {"Export the report as PDF", "X", [this] { export_report(); }},
        {"Show the picture as a table", "T", [this] { show_table(); }},
        {"Export the picture or its table", "e", [this] {
             if (prediction() == nullptr)
                 return;
             if (shows_advice())
                 desk_.exports().ask("advice", [this] { return advice_.table(); });
             else
                 desk_.exports().ask(
                     panels_[panel_]->name(), [this, panel = panel_] { return panels_[panel]->table(*prediction()); },
                     panels_[panel_]->picture(*prediction()));
         }}};
    for (std::size_t i = 0; i <= panels_.size(); ++i)
        commands.push_back(
            {std::string("Show ") + (i < panels_.size() ? panels_[i]->name() : "Advice"), "[ ]", [this, i] {
                 panel_ = i;
                 pane_ = Pane::panel;
             }});
    for (std::size_t i = 0; i < view::kAnswerKeys.size(); ++i)
        commands.push_back({std::string("Why ") + kFigureNames[i], "Enter", [this, i] {
                                if (prediction() != nullptr)
                                    open_derivation(desk_, *prediction(), view::kAnswerKeys[i]);
                            }});
    return commands;
}

Json PlanPage::state() const
{
    return {{"pane", static_cast<int>(pane_)}, {"panel", panel_}, {"input", inputs_.selected}};
}

void PlanPage::restore(const Json& state)
{
    const auto number = [&](const char* key, int most) {
        const auto found = state.find(key);
        return found != state.end() && found->is_number_integer() ? std::clamp(found->get<int>(), 0, most) : 0;
    };
    pane_ = static_cast<Pane>(number("pane", 2));
    panel_ = static_cast<std::size_t>(number("panel", static_cast<int>(panels_.size())));
    inputs_.selected = number("input", 100);
}

} // namespace fourfold::tui
