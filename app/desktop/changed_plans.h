// SPDX-License-Identifier: GPL-3.0-or-later
// Plans whose files somebody else wrote: one without changes of its own follows its file, of one with changes the
// banner asks.
#pragma once

#include "app/models/plan/plan_watch.h"

namespace fourfold::ui {

class Banner;
class PlanFiles;

class ChangedPlans : public QObject {
    Q_OBJECT
public:
    // All outlive this; `window` is the parent.
    ChangedPlans(PlanTabs& plans, PlanFiles& files, Banner& banner, QObject* window);
    void look() { m_watch.look(); } // also for folders that tell nothing

signals:
    void compareRequested(); // the file's plan is open beside the one in the tab

private:
    void offer(int index);

    PlanTabs& m_plans;
    PlanFiles& m_files;
    Banner& m_banner;
    PlanWatch m_watch;
};

} // namespace fourfold::ui
