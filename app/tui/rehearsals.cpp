// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/rehearsals.h"

#include "app/tui/desk.h"
#include "app/tui/rehearsal_box.h"

namespace fourfold::tui {

Rehearsals::Rehearsals(Desk& desk)
    : desk_(desk)
    , job_(desk.wake())
{
}

void Rehearsals::rehearse()
{
    if (!desk_.plan().state().is_valid()) {
        desk_.tell("There is no valid plan to rehearse", view::Tone::bad);
        return;
    }
    const ResolvedPlan& wanted = *desk_.plan().state().resolved();
    if (job_.is_running() && !job_.is_of(wanted)) {
        desk_.confirm("Rehearse", "Another plan is being rehearsed: " + job_.plan() + ".",
            "stop that and rehearse this one", [this, wanted] {
                job_.start(wanted);
                show();
            });
        return;
    }
    if (!job_.is_running())
        job_.start(wanted);
    show();
}

void Rehearsals::show()
{
    if (job_.is_running() || job_.outcome())
        desk_.open(std::make_unique<RehearsalBox>(desk_, job_));
    else
        desk_.tell(desk_.keyed("Nothing was rehearsed yet; `R` rehearses the plan"));
}

void Rehearsals::tick()
{
    if (!job_.deliver())
        return;
    if (job_.outcome())
        desk_.tell("Rehearsal: " + job_.outcome()->headline, job_.outcome()->tone);
    else if (desk_.overlays().empty())
        desk_.tell("Rehearsing: " + job_.progress_text());
}

} // namespace fourfold::tui
