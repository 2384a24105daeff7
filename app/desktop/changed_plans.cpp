// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/changed_plans.h"

#include "app/desktop/plan_files.h"
#include "app/desktop/widgets/panels/banner.h"

namespace fourfold::ui {

ChangedPlans::ChangedPlans(PlanTabs& plans, PlanFiles& files, Banner& banner, QObject* window)
    : QObject(window)
    , m_plans(plans)
    , m_files(files)
    , m_banner(banner)
    , m_watch(plans)
{
    connect(&m_watch, &PlanWatch::changedOnDisk, this, &ChangedPlans::offer);
}

void ChangedPlans::offer(int index)
{
    PlanDocument* changed = &m_plans.document(index);
    if (!changed->isDirty() && view::read_plan_file(changed->file())) {
        m_files.reload(index);
        return;
    }
    const auto of = [this, changed](auto work) {
        return [this, changed, work] {
            if (const int at = m_plans.indexOf(*changed); at >= 0) // not closed since
                work(at);
        };
    };
    m_banner.say(Tone::warning,
        changed->isDirty()
            ? tr("%1 was changed on disk, and here there are changes that were not saved.").arg(changed->title())
            : tr("%1 was changed on disk, and what it holds now cannot be read.").arg(changed->title()),
        {{tr("Reload"), of([this](int at) { m_files.reload(at); })},
            {tr("Keep mine"), of([this](int at) { m_plans.document(at).keepMine(); })},
            {tr("Compare"), of([this](int at) {
                 m_files.openFromDisk(at);
                 emit compareRequested();
             })}});
}

} // namespace fourfold::ui
