// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/desk.h"

#include "app/tui/rehearsal_box.h"
#include "app/view/plan/edits.h"
#include "app/view/plan/plans_overview.h"
#include "core/base/text.h"
#include "core/plan/fields.h"

#include <algorithm>
#include <utility>

namespace fourfold::tui {

namespace {
constexpr std::chrono::seconds kLookEvery{2}; // at the file of the plan on show
} // namespace

Desk::Desk(view::Predictor::Predict predict, std::function<void()> wake)
    : wake_(std::move(wake))
    , predict_(std::move(predict))
    , plans_(std::make_unique<view::PlanEditor>(presets_, predict_, wake_))
    , rehearsal_(wake_)
{
}

void Desk::confirm(
    const std::string& title, const std::string& text, const std::string& yes_text, std::function<void()> yes)
{
    open(std::make_unique<Question>(
        title, text, std::vector<Question::Choice>{{U'y', yes_text, std::move(yes)}, {U'n', "no", {}}}));
}

void Desk::tell(std::string text, view::Tone tone)
{
    message_ = printable(text, kUncut);
    message_tone_ = tone;
}

bool Desk::succeeded(const Expected<void>& outcome)
{
    if (!outcome)
        tell(outcome.error().line(), view::Tone::bad);
    return outcome.has_value();
}

view::PlanEditor& Desk::add_plan()
{
    plans_.set_current(plans_.insert(std::make_unique<view::PlanEditor>(presets_, predict_, wake_)));
    return plan();
}

view::PlanEditor& Desk::unused_plan()
{
    return plan().is_unused() ? plan() : add_plan();
}

void Desk::drop_plan()
{
    if (plans_.count() > 1)
        plans_.take(plans_.current_index());
}

void Desk::show_plan(int index)
{
    plans_.set_current(index);
}

void Desk::step_plan(int step)
{
    const int count = plans_.count();
    if (count == 1) {
        tell(keyed("One plan is open; Ctrl+T makes a copy of it, `o` opens another"));
        return;
    }
    show_plan((plans_.current_index() + step + count) % count);
    tell("Plan " + std::to_string(plans_.current_index() + 1) + " of " + std::to_string(count) + ": "
        + plan().state().title());
}

void Desk::show_open_plans()
{
    std::vector<view::OpenPlan> open;
    for (int i = 0; i < plans_.count(); ++i) {
        const view::PlanEditor& editor = plans_.at(i);
        view::OpenPlan plan = view::open_plan(editor.state());
        plan.prediction = editor.is_answered() ? editor.prediction().get() : nullptr;
        plan.is_current = i == plans_.current_index();
        plan.is_unsaved = editor.is_dirty();
        open.push_back(std::move(plan));
    }
    std::vector<Picker::Item> items;
    for (const view::PlanLine& line : view::plans_overview(open)) {
        const int index = static_cast<int>(items.size());
        items.push_back(
            {line.name, line.verdict + " " + line.layout + (line.differs.empty() ? "" : "; " + line.differs),
                [this, index] { show_plan(index); }});
    }
    this->open(std::make_unique<Picker>("Open plans", std::move(items), plans_.current_index()));
}

void Desk::copy_plan()
{
    Plan copy = view::copy_of(plan().state().plan(), plan().state().title());
    add_plan().reset(std::move(copy));
    plan().mark_unsaved();
    tell(keyed("A copy in a tab of its own; `{` and `}` change between the plans, Ctrl+W closes one"));
}

void Desk::ask_to_rename()
{
    const Json& name = value_at(plan().state().plan().document, "name");
    auto prompt = std::make_unique<Prompt>("Name of the plan",
        name.is_string() ? name.get<std::string>() : plan().state().title(), [this](const std::string& text) {
            const std::string wanted(trimmed(text));
            if (wanted.empty())
                return std::string("a plan has a name");
            apply("Renamed to " + printable(wanted), view::with_value(plan().state().plan(), "name", wanted));
            return std::string();
        });
    if (!plan().file().empty())
        prompt->explain("Its file keeps its own: " + plan().file().filename().string());
    open(std::move(prompt));
}

void Desk::close_plan()
{
    if (plans_.count() == 1) {
        tell(keyed("The last plan stays; `q` leaves"));
        return;
    }
    const auto close = [this] {
        drop_plan();
        tell("Closed; now " + plan().state().title());
    };
    unless_unsaved(close, close);
}

void Desk::ask_to_quit()
{
    unless_any_unsaved([this] { quits_ = true; });
}

void Desk::unless_any_unsaved(const std::function<void()>& then)
{
    dropped_.clear();
    ask_from(0, then);
}

void Desk::ask_from(int index, const std::function<void()>& then)
{
    while (index < plans_.count() && !plans_.at(index).is_dirty())
        ++index;
    if (index == plans_.count()) {
        then();
        return;
    }
    plans_.set_current(index);
    const auto on = [this, index, then] { ask_from(index + 1, then); };
    unless_unsaved(on, [this, on] {
        dropped_.insert(&plan());
        on();
    });
}

void Desk::unless_unsaved(const std::function<void()>& then, const std::function<void()>& dropped)
{
    if (!plan().is_dirty()) {
        then();
        return;
    }
    const auto save_first = [this, then] {
        if (plan().state().file().empty()) {
            ask_to_save_as();
            return;
        }
        if (plan().state().is_changed_on_disk()) {
            save(); // it asks
            return;
        }
        if (succeeded(plan().save(plan().state().file())))
            then();
    };
    open(std::make_unique<Question>("Unsaved changes",
        "The plan " + plan().state().title() + " has changes that are not saved.",
        std::vector<Question::Choice>{
            {U's', "save them", save_first}, {U'd', "drop them", dropped}, {U'c', "cancel", {}}}));
}

void Desk::change(const std::string& path, const Json& value)
{
    const Expected<std::string> followed = plan().set_value(path, value);
    if (!followed)
        tell(followed.error().line(), view::Tone::bad);
    else if (!followed->empty())
        tell("Followed the model: " + *followed + keyed("; `u` takes all of it back"));
}

void Desk::apply(const std::string& text, Expected<Plan> changed)
{
    if (succeeded(plan().apply(text, std::move(changed))))
        tell(text + keyed("; `u` takes it back"), view::Tone::good);
}

void Desk::undo()
{
    const std::string text = plan().undo();
    tell(text.empty() ? "There is nothing to take back" : "Taken back: " + text);
}

void Desk::redo()
{
    const std::string text = plan().redo();
    tell(text.empty() ? "There is nothing to do again" : "Done again: " + text);
}

void Desk::rehearse()
{
    if (!plan().state().is_valid()) {
        tell("There is no valid plan to rehearse", view::Tone::bad);
        return;
    }
    const ResolvedPlan& wanted = *plan().state().resolved();
    if (rehearsal_.is_running() && !rehearsal_.is_of(wanted)) {
        confirm("Rehearse", "Another plan is being rehearsed: " + rehearsal_.plan() + ".",
            "stop that and rehearse this one", [this, wanted] {
                rehearsal_.start(wanted);
                show_rehearsal();
            });
        return;
    }
    if (!rehearsal_.is_running())
        rehearsal_.start(wanted);
    show_rehearsal();
}

void Desk::show_rehearsal()
{
    if (rehearsal_.is_running() || rehearsal_.outcome())
        open(std::make_unique<RehearsalBox>(*this, rehearsal_));
    else
        tell(keyed("Nothing was rehearsed yet; `R` rehearses the plan"));
}

int Desk::next_tick() const
{
    return plan().file().empty() ? -1 : static_cast<int>(std::chrono::milliseconds(kLookEvery).count());
}

// Changes of other programs are read again, where nothing here is lost by that; where something is, saving asks.
void Desk::look_at_file()
{
    const auto now = std::chrono::steady_clock::now();
    if (plan().file().empty() || now - looked_ < kLookEvery)
        return;
    looked_ = now;
    if (!plan().state().is_changed_on_disk()) {
        changed_ = nullptr;
        return;
    }
    if (std::exchange(changed_, &plan()) == &plan())
        return;
    const std::string name = plan().file().filename().string();
    if (plan().is_dirty())
        tell(name + " was changed by another program; Ctrl+S asks which of the two stays", view::Tone::warning);
    else if (succeeded(plan().reload())) {
        changed_ = nullptr;
        tell("Another program changed " + name + keyed(": it was read again; `u` takes that back"));
    }
}

void Desk::tick()
{
    for (int i = 0; i < plans_.count(); ++i)
        plans_.at(i).receive();
    look_at_file();
    if (!rehearsal_.deliver())
        return;
    if (rehearsal_.outcome())
        tell("Rehearsal: " + rehearsal_.outcome()->headline, rehearsal_.outcome()->tone);
    else if (overlays_.empty())
        tell("Rehearsing: " + rehearsal_.progress_text());
}

} // namespace fourfold::tui
