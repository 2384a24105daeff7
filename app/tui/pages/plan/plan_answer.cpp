// SPDX-License-Identifier: GPL-3.0-or-later
// What the plan page says: the five figures, the verdict with its cure, warnings; on the screen and in lines.
#include "app/tui/pages/plan/plan_page.h"

#include "app/tui/linear/spoken.h"
#include "app/view/command_line.h"
#include "app/view/plan/edits.h"
#include "app/view/text.h"
#include "core/base/text.h"

#include <algorithm>

namespace fourfold::tui {

namespace {
constexpr int kUnbroken = 1000; // rows, where there is no screen

std::array<view::Figure, 5> figures_of(const Prediction* prediction)
{
    if (prediction != nullptr)
        return view::answer_figures(*prediction);
    return {view::unknown_figure("Peak memory per GPU", "GiB"), view::unknown_throughput(),
        view::unknown_figure("MFU", "%"), view::unknown_figure("Step time"),
        view::unknown_figure("Pipeline bubble", "%")};
}
} // namespace

int PlanPage::draw_answer(Canvas& canvas, const Rect& place, const Look& look)
{
    const bool answered = desk_.plan().is_answered();
    const std::array<view::Figure, 5> figures = figures_of(prediction());
    figures_.fit(5, 5);
    figures_place_ = {place.row, place.column, 5, place.columns};
    for (int i = 0; i < 5; ++i) {
        const view::Figure& figure = figures[static_cast<std::size_t>(i)];
        const int row = place.row + i;
        canvas.text(row, place.column, kFigureNames[i], kMuted);
        const std::string unit = figure.short_unit.empty() ? figure.unit == "tokens/s per GPU" ? "TPS/GPU" : figure.unit
                                                           : figure.short_unit;
        canvas.text_in(row, place.column + 11, 8, figure.value,
            answered ? Style{style_of(figure.tone).ink, Ink::normal, true} : kMuted, true);
        canvas.text(row, place.column + 20, unit, answered ? Style{} : kMuted);
        const int rest = place.column + 28;
        const bool both = place.columns >= 90;
        const std::string words = !both && i != 0 && !figure.confidence.empty() ? figure.confidence : figure.basis;
        canvas.text_in(row, rest, (both ? 34 : place.columns - 28), words, kMuted);
        if (both)
            canvas.text_in(row, rest + 36, place.columns - 28 - 36, figure.confidence, kMuted);
        if (pane_ == Pane::figures && figures_.selected == i)
            canvas.restyle({row, place.column, 1, 27}, kReverse);
    }
    int row = place.row + 5;
    for (const Said& part : said()) {
        constexpr std::size_t kMost = 2; // lines of each
        std::vector<std::string> lines = wrapped(part.text, place.columns);
        if (lines.size() > kMost)
            lines = {lines[0], part.text.substr(lines[0].size() + 1)};
        for (const std::string& shown : lines)
            canvas.text_in(row++, place.column, place.columns, shown, part.style);
        const auto rows = static_cast<int>(lines.size());
        if (part.is_advice && advice_.is_looking())
            row += std::max(0, advice_rows_ - rows);
        else if (part.is_advice)
            advice_rows_ = rows;
    }
    static_cast<void>(look);
    return row - place.row;
}

std::vector<PlanPage::Said> PlanPage::said() const
{
    const view::PlanState& state = desk_.plan().state();
    const bool answered = desk_.plan().is_answered();
    std::vector<Said> all;
    const auto line = [&](const std::string& text, Style style, bool is_advice = false) {
        all.push_back({text, style, is_advice});
    };
    if (state.problem()) {
        line("Not valid. " + state.problem()->line(), style_of(view::Tone::bad));
    } else if (!state.broken_rules().empty()) {
        const Reason& reason = state.broken_rules().front();
        line("Not valid. " + reason.message, style_of(view::Tone::bad));
        line(reason.nearest.empty()
                ? "The figures are of the last valid plan"
                : desk_.keyed("`!` uses ") + reason.nearest + "; the figures are of the last valid plan",
            kAccent);
    } else if (!answered || prediction() == nullptr) {
        line("Predicting...", kMuted);
    } else {
        const view::Verdict verdict = view::verdict_of(*prediction());
        line(verdict.word + " " + verdict.rest + ". "
                + view::upper_case(view::evidence_text(prediction()->evidence).substr(0, 1))
                + view::evidence_text(prediction()->evidence).substr(1) + ".",
            style_of(verdict.tone));
    }
    if (answered && !advice_.all().empty())
        line(desk_.keyed("`!` ") + view::advice_words(advice_.all().front()), kAccent, true);
    else if (answered)
        line(advice_.is_looking() ? "Looking for what would help..." : "No single change would help", kMuted, true);
    if (answered && !prediction()->warnings.empty()) {
        const std::size_t count = prediction()->warnings.size();
        line(desk_.keyed("`W` ") + (count > 1 ? text_of("all %zu warnings: ", count) : std::string("warning: "))
                + prediction()->warnings.front(),
            style_of(view::Tone::warning));
    }
    return all;
}

void PlanPage::show_warnings()
{
    if (prediction() == nullptr)
        return;
    std::string text;
    for (const std::string& warning : prediction()->warnings)
        text += warning + "\n\n";
    for (const Reason& reason : prediction()->reasons)
        text += reason.field + ": " + reason.message + "\n\n";
    for (const view::Figure& figure : view::answer_figures(*prediction()))
        text += "# " + figure.title + "\n" + figure.value + " " + figure.unit + "; " + figure.basis + "; "
            + figure.confidence + (figure.detail.empty() ? "" : ". " + figure.detail) + "\n\n";
    if (const std::vector<std::string> report = view::config_report(desk_.plan().state().plan()); !report.empty()) {
        text += "# What is used of the model's config\n";
        for (const std::string& line : report)
            text += line + "\n\n";
    }
    desk_.open(std::make_unique<Pager>("Warnings, and what the figures say", text));
}

std::vector<std::string> PlanPage::lines()
{
    std::vector<std::string> lines;
    const view::PlanState& state = desk_.plan().state();
    if (!state.last_resolved())
        return {state.problem() ? state.problem()->line() : "No plan that can be shown"};
    const ResolvedPlan& plan = *state.last_resolved();
    for (const view::Figure& figure : figures_of(prediction()))
        lines.push_back(spoken(figure));
    for (const Said& part : said())
        lines.push_back(part.text);
    for (const PlanInput* input : plan_inputs(plan)) {
        const std::string fact = input->fact == nullptr ? "" : input->fact(plan);
        if (input->kind == PlanInput::heading)
            lines.push_back(std::string(input->label) + ": " + fact);
        else
            lines.push_back(std::string(input->label) + " " + input->value(plan) + (fact.empty() ? "" : ", " + fact));
    }
    fit_inputs(plan_inputs(plan), kUnbroken);
    if (pane_ != Pane::panel)
        lines.push_back(std::string("Picture: ") + (shows_advice() ? "Advice" : panels_[panel_]->name())
            + desk_.keyed("; tab goes on to it, `[` and `]` change it"));
    if (pane_ == Pane::inputs)
        lines.push_back("At " + remark() + desk_.keyed("; `+` and `-` change it, enter edits it"));
    else if (pane_ == Pane::figures)
        lines.push_back(std::string("At ") + kFigureNames[figures_.selected] + "; enter tells why");
    else
        lines.push_back(
            std::string("At the picture ") + (shows_advice() ? "Advice; enter applies" : panels_[panel_]->name()));
    if (pane_ == Pane::panel && prediction() != nullptr)
        speak_rows(lines, shows_advice() ? advice_.table() : panels_[panel_]->table(*prediction()),
            shows_advice() ? advice_list_.selected : -1);
    if (pane_ == Pane::panel && prediction() != nullptr && !shows_advice())
        std::ranges::move(panels_[panel_]->said(*prediction()), std::back_inserter(lines));
    return lines;
}

std::vector<Copy> PlanPage::copies()
{
    std::vector<Copy> copies;
    if (const Prediction* const now = prediction()) {
        const std::array<view::Figure, 5> figures = view::answer_figures(*now);
        const view::Figure& chosen = figures[static_cast<std::size_t>(std::clamp(figures_.selected, 0, 4))];
        const auto table = [this] {
            return spreadsheet_rows(shows_advice() ? advice_.table() : panels_[panel_]->table(*prediction()));
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
    if (const view::PlanEditor& plan = desk_.plan(); !plan.file().empty() && !plan.is_dirty())
        copies.push_back({"The command that predicts it", [file = plan.file().string()] {
                              return view::command_line({"predict", file});
                          }});
    copies.push_back({"The plan as its file has it", [this] { return to_text(desk_.plan().state().plan()); }});
    return copies;
}

// "tp 4", "Global batch 512", "training.seq_len 4096", "gpus=32".
bool PlanPage::take_line(const std::string& line)
{
    const std::size_t at = line.find_last_of(" =");
    if (!desk_.plan().state().last_resolved() || at == std::string::npos)
        return false;
    const std::string field = lower_case(trimmed(line.substr(0, at), " =")), value = line.substr(at + 1);
    for (const PlanInput* input : plan_inputs(*desk_.plan().state().last_resolved())) {
        const std::string path = input->path, label = lower_case(input->label);
        if (path.empty() || (field != path && field != path.substr(path.find('.') + 1) && field != label))
            continue;
        const Expected<Json> json = parse_json(value, field); // a number, true, "text"; else the text as it is
        desk_.change(path, json ? *json : Json(value));
        return true;
    }
    return false;
}

} // namespace fourfold::tui
