// SPDX-License-Identifier: GPL-3.0-or-later
// What the window remembers between two starts, in desktop.ini of the config folder.
#pragma once

#include "app/desktop/appearance.h"
#include "app/desktop/widgets/panels/layout_state.h"

#include <QByteArray>
#include <QStringList>
#include <QVariantMap>

namespace fourfold::ui {

struct Session {
    QByteArray geometry;
    QStringList openPlans; // files of the tabs, in their order; untitled plans are not files
    int currentPlan = 0; // of openPlans
    QStringList recentPlans; // newest first
    QString project; // folder of the open one; empty: none
    QStringList recentProjects; // newest first
    ThemeChoice theme = ThemeChoice::system;
    int zoom = 100; // per cent
    QString page; // name of the mode
    LayoutState layout; // sizes that the user dragged
    QVariantMap keys; // of commands that have not their usual ones
    QVariantMap pages; // what each keeps, by its id

    static Session load();
    void save() const;
    void addRecent(const QString& file);
    void addRecentProject(const QString& folder); // which is open now
};

} // namespace fourfold::ui
