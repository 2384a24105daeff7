// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/start_form.h"

#include "app/view/plan/edits.h"
#include "core/base/text.h"

#include <algorithm>
#include <cstdlib>

namespace fourfold::tui {

namespace {
constexpr int kNames = 10, kRowsPerChoice = 2; // columns; rows
} // namespace

StartForm::StartForm(Desk& desk)
    : desk_(desk)
    , start_(desk.presets(), desk.wake())
{
    const view::Start::Questions first = view::Start::first_questions(desk.plan().state().resolved());
    form_.lines = {{"Model", "llama 405b, meta-llama/Llama-3.1-8B, a config.json", InputLine(first.model)},
        {"GPUs", "512", InputLine(first.gpus)}, {"Cluster", "dgx h100", InputLine(first.cluster)},
        {"Training", "15T tokens, 30 days; empty: 20 tokens per parameter", InputLine(first.extent)}};
    form_.offer();
}

void StartForm::receive()
{
    if (!start_.receive())
        return;
    list_.selected = 0;
    form_.at = start_.recommendation() ? static_cast<int>(form_.lines.size()) : 0;
    refusal_ = start_.problem() ? start_.problem()->line() : "";
}

void StartForm::draw(Canvas& canvas, const Look&)
{
    receive();
    const int columns = std::min(canvas.columns() - 6, 96);
    constexpr int kUsual = 20; // rows; more where what was found needs them
    const Rect inside
        = draw_frame(canvas, std::clamp(wanted_rows(columns), std::min(canvas.rows() - 2, kUsual), canvas.rows() - 2),
            columns, "A plan from three answers");
    int row = form_.draw(canvas, inside, kNames, true) + 1;
    const int last = inside.row + inside.rows - 1;
    if (start_.is_looking()) {
        canvas.text(row, inside.column, "looking through all layouts...", kMuted);
    } else if (!refusal_.empty()) {
        for (const std::string& text : wrapped(refusal_, inside.columns)) {
            if (row < last)
                canvas.text_in(row++, inside.column, inside.columns, text, style_of(view::Tone::bad));
        }
    } else if (!form_.is_behind()) {
        canvas.text_in(row, inside.column, inside.columns, "for example: " + form_.here().example, kMuted);
    }
    row = draw_answer(canvas, inside, row);
    canvas.text_in(last, inside.column, inside.columns,
        is_answered() ? cut_ ? "Enter takes the plan, Space reads on, Tab to the questions, Esc leaves"
                             : "Enter takes the plan, Tab back to the questions, Esc leaves"
                      : "Enter to the next, from the last it looks for a plan; Tab moves, Esc leaves",
        kMuted);
}

// What was found, as far as there is room; the row behind it.
int StartForm::draw_answer(Canvas& canvas, const Rect& inside, int row)
{
    const int last = inside.row + inside.rows - 1;
    const std::vector<view::Start::Choice> choices = start_.choices();
    choices_place_ = {row, inside.column, 0, inside.columns};
    for (std::size_t i = 0; i < choices.size() && row + 1 < last; ++i, row += kRowsPerChoice) {
        choices_place_.rows += kRowsPerChoice;
        const view::Start::Choice& choice = choices[i];
        canvas.text_in(row, inside.column, inside.columns, choice.title, i == 0 ? kBold : Style{});
        canvas.text_in(row + 1, inside.column + 2, inside.columns - 2, choice.figures, kMuted);
        if (is_answered() && static_cast<int>(i) == list_.selected)
            canvas.restyle({row, inside.column, 1, inside.columns}, kReverse);
    }
    cut_ = false;
    for (const std::string& sentence : start_.sentences()) {
        for (const std::string& text : wrapped(sentence, inside.columns)) {
            cut_ = cut_ || row >= last;
            if (row < last)
                canvas.text_in(row++, inside.column, inside.columns, text);
        }
    }
    return row;
}

int StartForm::wanted_rows(int columns) const
{
    int rows = static_cast<int>(form_.lines.size()) + kRowsPerChoice * static_cast<int>(start_.choices().size()) + 2;
    for (const std::string& sentence : start_.sentences())
        rows += static_cast<int>(wrapped(sentence, columns).size());
    return rows;
}

void StartForm::read_on()
{
    std::string text;
    for (const view::Start::Choice& choice : start_.choices())
        text += choice.title + "\n" + choice.figures + "\n\n";
    for (const std::string& sentence : start_.sentences())
        text += sentence + "\n";
    desk_.open(std::make_unique<Pager>("Why this plan", text));
}

void StartForm::key(const Key& key)
{
    if (key.code == Key::escape || key.is_ctrl('c')) {
        close();
        return;
    }
    const int count = static_cast<int>(start_.choices().size());
    if (const auto again = list_.click(key, choices_place_, count, kRowsPerChoice)) {
        if (*again && is_answered())
            take_choice();
        form_.at = static_cast<int>(form_.lines.size());
    } else if (form_.move(key, start_.recommendation().has_value())) {
        return;
    } else if (form_.is_behind()) {
        if (key.code == Key::enter)
            take_choice();
        else if (key.is(' '))
            read_on();
        else
            list_.key(key, count);
    } else if (key.code == Key::enter) {
        ++form_.at;
        if (form_.is_behind())
            ask();
    } else if (form_.here().input.key(key)) {
        refusal_ = form_.here().input.refusal();
        start_.take_back();
    }
}

std::string StartForm::read_out()
{
    receive();
    if (start_.is_looking())
        return "Looking through all layouts; esc leaves\n";
    std::string text = refusal_.empty() ? "" : refusal_ + "\n";
    if (!is_answered())
        return text + "A plan from three answers. " + form_.question();
    const std::vector<view::Start::Choice> choices = start_.choices();
    for (std::size_t i = 0; i < choices.size(); ++i)
        text += text_of("%zu ", i + 1) + choices[i].title + ": " + choices[i].figures + "\n";
    for (const std::string& sentence : start_.sentences())
        text += sentence + "\n";
    return text + "A number takes the plan, again goes back to the questions, esc leaves\n";
}

void StartForm::answer(const std::string& line)
{
    const std::string word(trimmed(line));
    if (word == kLeaves) {
        key({Key::escape});
    } else if (is_answered()) {
        const int number = std::atoi(word.c_str());
        if (word == "again") {
            form_.at = 0;
        } else if (number >= 1 && number <= static_cast<int>(start_.choices().size())) {
            list_.selected = number - 1;
            take_choice();
        }
    } else if (!start_.is_looking()) {
        if (!word.empty()) {
            form_.here().input.set(word);
            start_.take_back();
        }
        refusal_.clear();
        key({Key::enter});
    }
}

void StartForm::ask()
{
    form_.at = 0;
    const Expected<void> asked
        = start_.ask({form_.text("Model"), form_.text("GPUs"), form_.text("Cluster"), form_.text("Training")});
    refusal_ = asked ? "" : asked.error().line();
    form_.at = std::max(0, start_.refused());
}

void StartForm::take_choice()
{
    Desk& desk = desk_;
    close([&desk, plan = *start_.choices()[static_cast<std::size_t>(list_.selected)].plan] {
        view::PlanEditor& shown = desk.tabs().unused();
        shown.reset(plan);
        shown.mark_unsaved();
        desk.go(PageId::plan);
        desk.tell(view::ignores_keys(plan)
                ? desk.keyed("A plan of yours; `w` saves it under a name, `W` lists what its config.json says in vain")
                : desk.keyed("A plan of yours; `w` saves it under a name"));
    });
}

} // namespace fourfold::tui
