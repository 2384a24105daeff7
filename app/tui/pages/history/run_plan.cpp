// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/history/run_plan.h"

#include "app/tui/pages/runs/runs_page.h"
#include "app/view/runs/run_again.h"
#include "core/predict/term_off.h"

#include <utility>

namespace fourfold::tui {

void ask_about_run_plan(
    Desk& desk, RunsPage& runs_page, const RunDetail& run, const std::function<void(const RunDetail&)>& show_trace)
{
    // `runs`: on the target where it ran; the start is the person's to give.
    const auto open = [&desk, &runs_page, run](bool from_checkpoint, bool runs) {
        Expected<Plan> plan = from_checkpoint ? view::plan_from_checkpoint(run) : view::plan_of_run(run);
        if (!plan) {
            desk.tell(plan.error().line(), view::Tone::bad);
            return;
        }
        desk.tabs().unused().reset(*std::move(plan));
        desk.plan().mark_unsaved();
        desk.go(runs ? PageId::runs : PageId::plan);
        if (runs)
            runs_page.set_target(run.summary.target);
        desk.tell(
            runs ? "The plan of " + run.summary.id + desk.keyed("; `s` starts it") : "The plan of " + run.summary.id);
    };
    std::vector<Picker::Item> items{{"Open it", "in a tab of its own", [open] { open(false, false); }},
        {"Run it again", "where it ran", [open] { open(false, true); }}};
    if (view::has_checkpoint(run))
        items.push_back({"Go on from its newest checkpoint", "where it ran", [open] { open(true, true); }});
    if (measured_step(run.other_events))
        items.push_back({"Its traced step", "beside the planned one", [show_trace, run] { show_trace(run); }});
    desk.open(std::make_unique<Picker>("The plan of " + run.summary.name, std::move(items)));
}

} // namespace fourfold::tui
