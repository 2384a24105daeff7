// SPDX-License-Identifier: GPL-3.0-or-later
// What the window remembers between two starts, in desktop.ini of the config folder.
#pragma once

#include "app/desktop/appearance.h"

#include <QByteArray>
#include <QStringList>

namespace fourfold::ui {

struct Session {
    QByteArray geometry;
    QString lastPlan; // file, empty when the plan was untitled
    QStringList recentPlans; // newest first
    ThemeChoice theme = ThemeChoice::system;
    int page = 0;

    static Session load();
    void save() const;
    void addRecent(const QString& file);
};

} // namespace fourfold::ui
