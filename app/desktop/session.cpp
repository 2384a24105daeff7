// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/session.h"

#include "app/models/text.h"
#include "core/base/paths.h"

#include <QSettings>

namespace fourfold::ui {

namespace {
constexpr int kMostRecent = 8;

QString settingsFile()
{
    return fromUtf8((config_folder() / "desktop.ini").string());
}
} // namespace

Session Session::load()
{
    const QSettings settings(settingsFile(), QSettings::IniFormat);
    Session session;
    session.geometry = settings.value(QStringLiteral("window/geometry")).toByteArray();
    session.page = settings.value(QStringLiteral("window/page"), 0).toInt();
    session.lastPlan = settings.value(QStringLiteral("plans/last")).toString();
    session.recentPlans = settings.value(QStringLiteral("plans/recent")).toStringList();
    session.theme = themeChoice(settings.value(QStringLiteral("view/theme")).toString());
    return session;
}

void Session::save() const
{
    QSettings settings(settingsFile(), QSettings::IniFormat);
    settings.setValue(QStringLiteral("window/geometry"), geometry);
    settings.setValue(QStringLiteral("window/page"), page);
    settings.setValue(QStringLiteral("plans/last"), lastPlan);
    settings.setValue(QStringLiteral("plans/recent"), recentPlans);
    settings.setValue(QStringLiteral("view/theme"), spelling(theme));
}

void Session::addRecent(const QString& file)
{
    recentPlans.removeAll(file);
    recentPlans.prepend(file);
    while (recentPlans.size() > kMostRecent)
        recentPlans.removeLast();
}

} // namespace fourfold::ui
