// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/plan_tabs.h"

#include "app/tui/desk.h"
#include "app/view/plan/edits.h"
#include "app/view/plan/plans_overview.h"
#include "core/base/text.h"
#include "core/plan/fields.h"

#include <utility>

namespace fourfold::tui {

PlanTabs::PlanTabs(Desk& desk)
    : desk_(desk)
    , plans_(empty())
{
}

std::unique_ptr<view::PlanEditor> PlanTabs::empty() const
{
    return std::make_unique<view::PlanEditor>(desk_.presets(), desk_.predict(), desk_.wake());
}

view::PlanEditor& PlanTabs::add()
{
    plans_.set_current(plans_.insert(empty()));
    return plans_.current();
}

view::PlanEditor& PlanTabs::unused()
{
    return plans_.current().is_unused() ? plans_.current() : add();
}

void PlanTabs::drop()
{
    if (plans_.count() > 1)
        plans_.take(plans_.current_index());
}

void PlanTabs::take_out(int index)
{
    if (plans_.count() == 1)
        plans_.insert(empty());
    plans_.take(index);
}

void PlanTabs::step(int by)
{
    const int count = plans_.count();
    if (count == 1) {
        desk_.tell(desk_.keyed("One plan is open; Ctrl+T makes a copy of it, `o` opens another"));
        return;
    }
    show((plans_.current_index() + by + count) % count);
    desk_.tell("Plan " + std::to_string(plans_.current_index() + 1) + " of " + std::to_string(count) + ": "
        + plans_.current().state().title());
}

void PlanTabs::ask_which()
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
                [this, index] { show(index); }});
    }
    desk_.open(std::make_unique<Picker>("Open plans", std::move(items), plans_.current_index()));
}

void PlanTabs::copy()
{
    Plan again = view::copy_of(plans_.current().state().plan(), plans_.current().state().title());
    add().reset(std::move(again));
    plans_.current().mark_unsaved();
    desk_.tell(desk_.keyed("A copy in a tab of its own; `{` and `}` change between the plans, Ctrl+W closes one"));
}

void PlanTabs::ask_to_rename()
{
    const Json& name = value_at(plans_.current().state().plan().document, "name");
    auto prompt = std::make_unique<Prompt>("Name of the plan",
        name.is_string() ? name.get<std::string>() : plans_.current().state().title(), [this](const std::string& text) {
            const std::string wanted(trimmed(text));
            if (wanted.empty())
                return std::string("a plan has a name");
            desk_.apply("Renamed to " + printable(wanted), view::with_value(plans_.current().state().plan(), "name", wanted));
            return std::string();
        });
    if (!plans_.current().file().empty())
        prompt->explain("Its file keeps its own: " + plans_.current().file().filename().string());
    desk_.open(std::move(prompt));
}

void PlanTabs::receive()
{
    for (int i = 0; i < plans_.count(); ++i)
        plans_.at(i).receive();
}

} // namespace fourfold::tui
