// SPDX-License-Identifier: GPL-3.0-or-later
// The open plans in the order of their tabs, one of them on show.
#pragma once

#include "app/view/plan/open_plans.h"
#include "app/view/plan/plan_editor.h"

#include <memory>

namespace fourfold::tui {

class Desk;

class PlanTabs {
public:
    explicit PlanTabs(Desk& desk); // outlives it; one empty plan

    [[nodiscard]] view::OpenPlans<view::PlanEditor>& open() { return plans_; }
    [[nodiscard]] const view::OpenPlans<view::PlanEditor>& open() const { return plans_; }
    view::PlanEditor& add(); // an empty one, on show
    view::PlanEditor& unused(); // the one on show where nobody would miss it, else an empty one
    void drop(); // the one on show, unless it is the only one
    void take_out(int index); // also the only one: then there is an empty one
    void show(int index) { plans_.set_current(index); }
    void step(int by); // to the next one, or the one before
    void ask_which(); // what differs and whether they fit; Enter shows one
    void copy();
    void ask_to_rename(); // the plan on show; its file keeps its name
    void receive(); // answers that came from threads

private:
    [[nodiscard]] std::unique_ptr<view::PlanEditor> empty() const;

    Desk& desk_;
    view::OpenPlans<view::PlanEditor> plans_;
};

} // namespace fourfold::tui
