// SPDX-License-Identifier: GPL-3.0-or-later
// Tells when the file of an open plan was written by somebody else: an editor, a script, another window.
#pragma once

#include "app/models/plan/plan_tabs.h"

#include <QFileSystemWatcher>
#include <QTimer>

namespace fourfold::ui {

class PlanWatch : public QObject {
    Q_OBJECT
public:
    explicit PlanWatch(PlanTabs& plans, QObject* parent = nullptr);
    // Where the files were changed: also for folders that tell nothing (network drives), when a window is shown again.
    void look();

signals:
    void changedOnDisk(int index); // of the plan; again with every look(), until it is reloaded, saved or kept

private:
    void follow(); // the files that are open now

    PlanTabs& m_plans;
    QFileSystemWatcher m_files;
    QTimer m_later; // who replaces a file writes it in steps
};

} // namespace fourfold::ui
