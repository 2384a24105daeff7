// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/plan/plan_page.h"

#include "app/tui/linear/spoken.h"
#include "app/view/prediction/plan_charts.h"
#include "app/view/text.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace fourfold::tui {

namespace {
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
    , inputs_(desk)
    , advice_(desk)
    , answer_(desk, advice_.finder())
{
    panels_.push_back(make_memory_panel(desk));
    panels_.push_back(make_time_panel(desk));
    panels_.push_back(make_timeline_panel(desk));
    panels_.push_back(make_mesh_panel(desk));
    panels_.push_back(make_bounds_panel(desk));
    panels_.push_back(make_training_panel(desk));
    panel_places_.resize(panels_.size() + 1);
}

void PlanPage::draw(Canvas& canvas, const Rect& place, const Look& look)
{
    // Where there is little room, what a field means is said in the line at the bottom.
    const int left = place.columns < 100 ? PlanInputs::kFewColumns
        : place.columns < 160            ? PlanInputs::kColumns
                                         : PlanInputs::kManyColumns;
    inputs_.draw(canvas, {place.row, place.column, place.rows, left - 1}, pane_ == Pane::inputs);
    for (int row = place.row; row < place.row + place.rows; ++row)
        canvas.put(row, place.column + left - 1, U'\u2502', kMuted);
    const Rect right{place.row, place.column + left + 1, place.rows, place.columns - left - 1};
    const int taken = answer_.draw(canvas, right, pane_ == Pane::figures);
    draw_panels(canvas, {right.row + taken, right.column, right.rows - taken, right.columns}, look);
}

void PlanPage::draw_panels(Canvas& canvas, const Rect& place, const Look& look)
{
    panel_places_.assign(panels_.size() + 1, {});
    advice_.hide();
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
        advice_.draw(canvas, place, pane_ == Pane::panel);
    else if (prediction() != nullptr)
        panels_[panel]->draw(canvas, place, *prediction(), pane_ == Pane::panel && panel == panel_, look);
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
            advice_.apply(0);
    } else if (key.is('W')) {
        answer_.show_warnings();
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
            || (!key.is_of_drag() && pane_ == Pane::inputs && inputs_.key(key));
    } else if (pane_ == Pane::inputs) {
        return inputs_.key(key);
    } else if (pane_ == Pane::figures) {
        return answer_.key(key);
    } else {
        return panel_key(key);
    }
    return true;
}

bool PlanPage::panel_key(const Key& key)
{
    if (shows_advice())
        return advice_.key(key);
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

bool PlanPage::click(const Key& key)
{
    if (inputs_.is_at(key)) {
        const bool again = inputs_.choose_at(key) && pane_ == Pane::inputs;
        pane_ = Pane::inputs;
        return again ? inputs_.key({Key::enter}) : true;
    }
    if (answer_.is_at(key)) {
        const bool again = answer_.choose_at(key) && pane_ == Pane::figures;
        pane_ = Pane::figures;
        return again ? answer_.key({Key::enter}) : true;
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
        desk_.exports().show_table("Advice", advice_.finder().table());
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

std::string PlanPage::remark() const
{
    switch (pane_) {
    case Pane::inputs:
        return inputs_.remark();
    case Pane::figures:
        return answer_.remark();
    case Pane::panel:
        break;
    }
    return shows_advice() ? advice_.remark() : panels_[panel_]->remark();
}

std::vector<std::string> PlanPage::lines()
{
    const view::PlanState& state = desk_.plan().state();
    if (!state.last_resolved())
        return {state.problem() ? state.problem()->line() : "No plan that can be shown"};
    std::vector<std::string> lines = answer_.lines();
    std::ranges::move(inputs_.lines(), std::back_inserter(lines));
    if (pane_ != Pane::panel)
        lines.push_back(std::string("Picture: ") + (shows_advice() ? "Advice" : panels_[panel_]->name())
            + desk_.keyed("; tab goes on to it, `[` and `]` change it"));
    if (pane_ == Pane::inputs)
        lines.push_back("At " + inputs_.remark() + desk_.keyed("; `+` and `-` change it, enter edits it"));
    else if (pane_ == Pane::figures)
        lines.push_back(std::string("At ") + PlanAnswer::kFigureNames[answer_.chosen()] + "; enter tells why");
    else
        lines.push_back(
            std::string("At the picture ") + (shows_advice() ? "Advice; enter applies" : panels_[panel_]->name()));
    if (pane_ == Pane::panel && prediction() != nullptr)
        speak_rows(lines, shows_advice() ? advice_.finder().table() : panels_[panel_]->table(*prediction()),
            shows_advice() ? advice_.selected() : -1);
    if (pane_ == Pane::panel && prediction() != nullptr && !shows_advice())
        std::ranges::move(panels_[panel_]->said(*prediction()), std::back_inserter(lines));
    return lines;
}

std::vector<Copy> PlanPage::copies()
{
    std::vector<Copy> copies;
    if (const Prediction* const now = prediction()) {
        const std::array<view::Figure, 5> figures = view::answer_figures(*now);
        const view::Figure& chosen = figures[std::min<std::size_t>(answer_.chosen(), 4)];
        const auto table = [this] {
            return spreadsheet_rows(shows_advice() ? advice_.finder().table() : panels_[panel_]->table(*prediction()));
        };
        copies = {{"The figure " + chosen.title, [chosen] { return spoken(chosen); }},
            {std::string("The table of ") + (shows_advice() ? "the advice" : panels_[panel_]->name()), table},
            {"All figures", [figures] {
                 std::string text;
                 for (const view::Figure& figure : figures)
                     text += spoken(figure) + "\n";
                 return text;
             }}};
        if (pane_ == Pane::panel)
            std::swap(copies[0], copies[1]);
    }
    offer_command(copies, "The command that predicts it", "predict", desk_.plan());
    copies.push_back({"The plan as its file has it", [this] { return to_text(desk_.plan().state().plan()); }});
    return copies;
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
        {"Warnings, and what the figures say", "W", [this] { answer_.show_warnings(); }},
        {"Edit any field of the plan", "E", [this] { edit_any_field(desk_); }},
        {"Import a Hugging Face model (config.json)", "I", [this] { desk_.files().ask_to_import_model(); }},
        {"Export the report as PDF", "X", [this] { export_report(); }},
        {"Show the picture as a table", "T", [this] { show_table(); }},
        {"Export the picture or its table", "e", [this] {
             if (prediction() == nullptr)
                 return;
             if (shows_advice())
                 desk_.exports().ask("advice", [this] { return advice_.finder().table(); });
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
        commands.push_back(
            {std::string("Why ") + PlanAnswer::kFigureNames[i], "Enter", [this, i] { answer_.open_derivation(i); }});
    return commands;
}

Json PlanPage::state() const
{
    return {{"pane", static_cast<int>(pane_)}, {"panel", panel_}, {"input", inputs_.state()}};
}

void PlanPage::restore(const Json& state)
{
    const auto number = [&](const char* key, int most) {
        const auto found = state.find(key);
        return found != state.end() && found->is_number_integer() ? std::clamp(found->get<int>(), 0, most) : 0;
    };
    pane_ = static_cast<Pane>(number("pane", 2));
    panel_ = static_cast<std::size_t>(number("panel", static_cast<int>(panels_.size())));
    inputs_.restore(number("input", 100));
}

} // namespace fourfold::tui
