// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/start_form.h"

#include "app/view/plan/edits.h"
#include "core/base/text.h"

#include <algorithm>
#include <cstdlib>

namespace fourfold::tui {

namespace {
struct Line {
    const char *name, *example;
};
constexpr Line kQuestions[]{{"Model", "llama 405b, meta-llama/Llama-3.1-8B, a config.json"}, {"GPUs", "512"},
    {"Cluster", "dgx h100"}, {"Training", "15T tokens, 30 days; empty: 20 tokens per parameter"}};
constexpr int kNames = 10; // columns
} // namespace

StartForm::StartForm(Desk& desk)
    : desk_(desk)
    , start_(desk.presets(), desk.wake())
{
    const view::Start::Questions first = view::Start::first_questions(desk.plan().state().resolved());
    lines_ = {InputLine(first.model), InputLine(first.gpus), InputLine(first.cluster), InputLine(first.extent)};
}

void StartForm::receive()
{
    if (!start_.receive())
        return;
    list_.selected = 0;
    line_ = start_.recommendation() ? kLines : 0;
    refusal_ = start_.problem() ? start_.problem()->line() : "";
}

void StartForm::draw(Canvas& canvas, const Look&)
{
    receive();
    const int columns = std::min(canvas.columns() - 6, 96);
    const Rect inside = draw_frame(canvas, std::min(canvas.rows() - 2, 20), columns, "A plan from three answers");
    int row = inside.row, cursor_row = -1, cursor_column = -1;
    for (int i = 0; i < kLines; ++i, ++row) {
        const InputLine& line = lines_[static_cast<std::size_t>(i)];
        canvas.text(row, inside.column, kQuestions[i].name, i == line_ ? kHeading : kMuted);
        const int column = inside.column + kNames, width = inside.columns - kNames;
        if (line.text().empty() && i != line_)
            canvas.text_in(row, column, width, kQuestions[i].example, kMuted);
        else
            line.draw(canvas, row, column, width, {Ink::normal, Ink::normal, false, false, true});
        if (i == line_) {
            cursor_row = canvas.cursor_row;
            cursor_column = canvas.cursor_column;
        }
    }
    canvas.cursor_row = cursor_row;
    canvas.cursor_column = cursor_column;
    ++row;
    const int last = inside.row + inside.rows - 1;
    if (start_.is_looking()) {
        canvas.text(row, inside.column, "looking through all layouts...", kMuted);
    } else if (!refusal_.empty()) {
        for (const std::string& text : wrapped(refusal_, inside.columns)) {
            if (row < last)
                canvas.text_in(row++, inside.column, inside.columns, text, style_of(view::Tone::bad));
        }
    } else if (line_ < kLines) {
        canvas.text_in(
            row, inside.column, inside.columns, std::string("for example: ") + kQuestions[line_].example, kMuted);
    }
    row = draw_answer(canvas, inside, row);
    canvas.text_in(last, inside.column, inside.columns,
        is_answered() ? "Enter takes the plan, Tab back to the questions, Esc leaves"
                      : "Enter to the next, from the last one it looks for a plan; Tab moves, Esc leaves",
        kMuted);
}

// What was found, as far as there is room; the row behind it.
int StartForm::draw_answer(Canvas& canvas, const Rect& inside, int row)
{
    const int last = inside.row + inside.rows - 1;
    const std::vector<view::Start::Choice> choices = start_.choices();
    for (std::size_t i = 0; i < choices.size() && row + 1 < last; ++i, row += 2) {
        const view::Start::Choice& choice = choices[i];
        canvas.text_in(row, inside.column, inside.columns, choice.title, i == 0 ? kBold : Style{});
        canvas.text_in(row + 1, inside.column + 2, inside.columns - 2, choice.figures, kMuted);
        if (is_answered() && static_cast<int>(i) == list_.selected)
            canvas.restyle({row, inside.column, 1, inside.columns}, kReverse);
    }
    for (const std::string& sentence : start_.sentences()) {
        for (const std::string& text : wrapped(sentence, inside.columns)) {
            if (row < last)
                canvas.text_in(row++, inside.column, inside.columns, text);
        }
    }
    return row;
}

void StartForm::key(const Key& key)
{
    if (key.code == Key::escape || key.is_ctrl('c')) {
        close();
        return;
    }
    const int stops = start_.recommendation() ? kLines + 1 : kLines;
    if (key.code == Key::tab || key.code == Key::back_tab) {
        line_ = (line_ + (key.code == Key::tab ? 1 : stops - 1)) % stops;
        return;
    }
    if (line_ == kLines) {
        if (key.code == Key::enter)
            take_choice();
        else
            list_.key(key, static_cast<int>(start_.choices().size()));
        return;
    }
    if (key.code == Key::enter) {
        if (++line_ == kLines)
            ask();
    } else if (key.code == Key::up || key.code == Key::down) {
        line_ = std::clamp(line_ + (key.code == Key::down ? 1 : -1), 0, kLines - 1);
    } else if (lines_[static_cast<std::size_t>(line_)].key(key)) {
        refusal_ = lines_[static_cast<std::size_t>(line_)].refusal();
        start_.take_back();
    }
}

std::string StartForm::read_out()
{
    receive();
    if (start_.is_looking())
        return "Looking through all layouts; esc leaves\n";
    std::string text = refusal_.empty() ? "" : refusal_ + "\n";
    if (!is_answered()) {
        const auto line = static_cast<std::size_t>(std::min(line_, kLines - 1));
        const std::string& typed = lines_[line].text();
        return text + "A plan from three answers. " + kQuestions[line].name + ", for example "
            + kQuestions[line].example + ": " + (typed.empty() ? "" : "an empty line takes " + in_quotes(typed) + "; ")
            + "esc leaves\n";
    }
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
            line_ = 0;
        } else if (number >= 1 && number <= static_cast<int>(start_.choices().size())) {
            list_.selected = number - 1;
            take_choice();
        }
    } else if (!start_.is_looking()) {
        if (!word.empty()) {
            lines_[static_cast<std::size_t>(line_)].set(word);
            start_.take_back();
        }
        refusal_.clear();
        key({Key::enter});
    }
}

void StartForm::ask()
{
    line_ = 0;
    const Expected<void> asked = start_.ask({lines_[0].text(), lines_[1].text(), lines_[2].text(), lines_[3].text()});
    refusal_ = asked ? "" : asked.error().line();
}

void StartForm::take_choice()
{
    Desk& desk = desk_;
    close([&desk, plan = *start_.choices()[static_cast<std::size_t>(list_.selected)].plan] {
        view::PlanEditor& shown = desk.unused_plan();
        shown.reset(plan);
        shown.mark_unsaved();
        desk.go(PageId::plan);
        desk.tell(view::ignores_keys(plan)
                ? desk.keyed("A plan of yours; `w` saves it under a name, `W` lists what its config.json says in vain")
                : desk.keyed("A plan of yours; `w` saves it under a name"));
    });
}

} // namespace fourfold::tui
