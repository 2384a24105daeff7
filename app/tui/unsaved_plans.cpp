// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/unsaved_plans.h"

#include "app/tui/desk.h"

namespace fourfold::tui {

bool UnsavedPlans::is_dropped(const view::PlanEditor& plan) const
{
    return desk_.quits() && dropped_.contains(&plan);
}

void UnsavedPlans::close_plan()
{
    if (desk_.plans().count() == 1) {
        desk_.tell(desk_.keyed("The last plan stays; `q` leaves"));
        return;
    }
    const auto close = [this] {
        desk_.tabs().drop();
        desk_.tell("Closed; now " + desk_.plan().state().title());
    };
    settle(close, close);
}

void UnsavedPlans::ask_to_quit()
{
    settle_all([this] { desk_.quit(); });
}

void UnsavedPlans::settle_all(const std::function<void()>& then)
{
    dropped_.clear();
    settle_from(0, then);
}

void UnsavedPlans::settle_from(int index, const std::function<void()>& then)
{
    while (index < desk_.plans().count() && !desk_.plans().at(index).is_dirty())
        ++index;
    if (index == desk_.plans().count()) {
        then();
        return;
    }
    desk_.tabs().show(index);
    const auto on = [this, index, then] { settle_from(index + 1, then); };
    settle(on, [this, on] {
        dropped_.insert(&desk_.plan());
        on();
    });
}

void UnsavedPlans::settle(const std::function<void()>& then, const std::function<void()>& dropped)
{
    if (!desk_.plan().is_dirty()) {
        then();
        return;
    }
    const auto save_first = [this, then] {
        if (desk_.plan().state().file().empty()) {
            desk_.files().ask_to_save_as();
            return;
        }
        if (desk_.plan().state().is_changed_on_disk()) {
            desk_.files().save(); // it asks
            return;
        }
        if (desk_.succeeded(desk_.plan().save(desk_.plan().state().file())))
            then();
    };
    desk_.open(std::make_unique<Question>("Unsaved changes",
        "The plan " + desk_.plan().state().title() + " has changes that are not saved.",
        std::vector<Question::Choice>{
            {U's', "save them", save_first}, {U'd', "drop them", dropped}, {U'c', "cancel", {}}}));
}

} // namespace fourfold::tui
