// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/plan/plan_answer.h"

#include "app/tui/linear/spoken.h"
#include "app/tui/pages/plan/panel.h"
#include "app/view/plan/edits.h"
#include "app/view/prediction/derivation.h"
#include "app/view/text.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <utility>

namespace fourfold::tui {

namespace {
std::array<view::Figure, 5> figures_of(const Prediction* prediction)
{
    if (prediction != nullptr)
        return view::answer_figures(*prediction);
    return {view::unknown_figure("Peak memory per GPU", "GiB"), view::unknown_throughput(),
        view::unknown_figure("MFU", "%"), view::unknown_figure("Step time"),
        view::unknown_figure("Pipeline bubble", "%")};
}

// Where everything stands in a row. On a narrow screen what is said of a figure ends with the row, as it may begin
// behind its unit.
struct FigureColumns {
    int value, value_width, unit;
    int words; // 0: behind the unit
};
constexpr FigureColumns kFigureColumns{11, 8, 20, 28}, kFewFigureColumns{10, 7, 18, 0};

std::string short_unit_of(const view::Figure& figure)
{
    if (!figure.short_unit.empty())
        return figure.short_unit;
    return figure.unit == "tokens/s per GPU" ? "TPS/GPU" : figure.unit;
}

// The first that fits of what is said of a figure in one place, then without what the rows around it say as well:
// "36.7 of 93.6 (39 %)", "16,617 to 17,955".
std::string words_within(int columns, const std::string& words)
{
    if (width_of(words) <= columns)
        return words;
    constexpr std::string_view usable = " usable", range = " %: ";
    std::string shorter = words;
    if (const std::size_t at = shorter.find(usable); at != std::string::npos)
        shorter.erase(at, usable.size());
    if (const std::size_t at = shorter.find(range); at != std::string::npos)
        shorter.erase(0, at + range.size());
    return fitted(shorter, columns);
}
} // namespace

int PlanAnswer::draw(Canvas& canvas, const Rect& place, bool focused)
{
    const bool answered = desk_.plan().is_answered();
    const std::array<view::Figure, 5> figures = figures_of(prediction());
    figures_.fit(5, 5);
    place_ = {place.row, place.column, 5, place.columns};
    constexpr int kEnough = 60; // columns
    const bool narrow = place.columns < kEnough;
    const FigureColumns& at = narrow ? kFewFigureColumns : kFigureColumns;
    for (int i = 0; i < 5; ++i) {
        const view::Figure& figure = figures[static_cast<std::size_t>(i)];
        const int row = place.row + i;
        canvas.text(row, place.column, kFigureNames[i], kMuted);
        const std::string unit = short_unit_of(figure);
        canvas.text_in(row, place.column + at.value, at.value_width, figure.value,
            answered ? Style{style_of(figure.tone).ink, Ink::normal, true} : kMuted, true);
        const int behind = canvas.text(row, place.column + at.unit, unit, answered ? Style{} : kMuted) + 1;
        const int rest = narrow ? behind : place.column + at.words, last = place.column + place.columns;
        const bool both = place.columns >= 90;
        const std::string words = !both && i != 0 && !figure.confidence.empty() ? figure.confidence : figure.basis;
        const int room = both ? 34 : last - rest;
        canvas.text_in(row, rest, room, words_within(room, words), kMuted, narrow);
        if (both)
            canvas.text_in(row, rest + 36, last - rest - 36, figure.confidence, kMuted);
        if (focused && figures_.selected == i)
            canvas.restyle({row, place.column, 1, at.unit + 7}, kReverse);
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
    return row - place.row;
}

std::vector<PlanAnswer::Said> PlanAnswer::said() const
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

void PlanAnswer::show_warnings()
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

void PlanAnswer::open_derivation(std::size_t figure) const
{
    if (prediction() != nullptr)
        tui::open_derivation(desk_, *prediction(), view::kAnswerKeys[figure]);
}

bool PlanAnswer::key(const Key& key)
{
    if (key.code != Key::enter || prediction() == nullptr)
        return figures_.key(key, 5);
    open_derivation(chosen());
    return true;
}

bool PlanAnswer::choose_at(const Key& key)
{
    const int at = key.row - place_.row;
    return std::exchange(figures_.selected, at) == at;
}

std::string PlanAnswer::remark() const
{
    if (prediction() == nullptr)
        return {};
    const Expected<Explanation> why = explain(*prediction(), view::kAnswerKeys[chosen()]);
    return why ? printable(view::explained_summary(*why), kUncut) : std::string();
}

std::vector<std::string> PlanAnswer::lines() const
{
    std::vector<std::string> lines;
    for (const view::Figure& figure : figures_of(prediction()))
        lines.push_back(spoken(figure));
    for (const Said& part : said())
        lines.push_back(part.text);
    return lines;
}

} // namespace fourfold::tui
