// SPDX-License-Identifier: GPL-3.0-or-later
// What would be lost of plans that are not saved: the questions before one is closed, all of them are, or the program
// ends.
#pragma once

#include "app/view/plan/plan_editor.h"

#include <functional>
#include <set>

namespace fourfold::tui {

class Desk;

class UnsavedPlans {
public:
    explicit UnsavedPlans(Desk& desk) // outlives it
        : desk_(desk)
    {
    }

    void close_plan(); // the one on show; asks where it has unsaved changes
    void ask_to_quit(); // after a question for each plan with unsaved changes
    // `then` once nothing unsaved of any plan is lost by it: after a question for each that has changes.
    void settle_all(const std::function<void()>& then);
    // Leaving, the user gave up what was not saved of it.
    [[nodiscard]] bool is_dropped(const view::PlanEditor& plan) const;

private:
    // `then` is called when nothing unsaved of the plan on show is lost by it: at once, or after the question.
    // `dropped` instead where the user gives it up.
    void settle(const std::function<void()>& then, const std::function<void()>& dropped);
    void settle_from(int index, const std::function<void()>& then);

    Desk& desk_;
    std::set<const view::PlanEditor*> dropped_; // of the question whether to leave
};

} // namespace fourfold::tui
