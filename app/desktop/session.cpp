// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/session.h"

#include "app/models/shared/text.h"
#include "core/base/paths.h"
#include "core/base/text.h"

#include <QSettings>

#include <cstdio>

namespace fourfold::ui {

namespace {
constexpr int kMostRecent = 8;
constexpr const char* kPageState = "/state"; // after the page's id

std::filesystem::path settingsFile()
{
    return config_folder() / "desktop.ini";
}

void putFirst(QStringList& recent, const QString& path)
{
    recent.removeAll(path);
    recent.prepend(path);
    while (recent.size() > kMostRecent)
        recent.removeLast();
}

// Qt would wait for who writes into a pipe, and read a file of any size before there is a window. Nothing: all well.
std::string whatKeepsOut(const std::filesystem::path& file)
{
    constexpr std::uintmax_t kMost = 4U << 20;
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    if (!std::filesystem::exists(status))
        return "";
    if (!std::filesystem::is_regular_file(status))
        return "is no file";
    return std::filesystem::file_size(file, error) > kMost ? "is larger than 4 MiB" : "";
}
} // namespace

Session Session::load()
{
    Session session;
    if (const std::string why = whatKeepsOut(settingsFile()); !why.empty()) {
        std::fprintf(stderr, "fourfold-desktop: warning: %s %s: settings are neither read nor kept\n",
            printable(settingsFile().string(), kUncut).c_str(), why.c_str());
        return session;
    }
    const QSettings settings(exactText(settingsFile().string()), QSettings::IniFormat);
    session.geometry = settings.value(QStringLiteral("window/geometry")).toByteArray();
    session.page = settings.value(QStringLiteral("window/page")).toString();
    session.layout = settings.value(QStringLiteral("window/layout")).toMap();
    for (const QString& group : settings.childGroups())
        session.pages.insert(group, settings.value(group + QLatin1String(kPageState)).toMap());
    session.keys = settings.value(QStringLiteral("view/keys")).toMap();
    session.openPlans = settings.value(QStringLiteral("plans/open")).toStringList();
    session.currentPlan = settings.value(QStringLiteral("plans/current"), 0).toInt();
    session.recentPlans = settings.value(QStringLiteral("plans/recent")).toStringList();
    session.project = settings.value(QStringLiteral("projects/open")).toString();
    session.recentProjects = settings.value(QStringLiteral("projects/recent")).toStringList();
    session.theme = themeChoice(settings.value(QStringLiteral("view/theme")).toString());
    session.zoom = settings.value(QStringLiteral("view/zoom"), 100).toInt();
    return session;
}

void Session::save() const
{
    if (!whatKeepsOut(settingsFile()).empty())
        return;
    QSettings settings(exactText(settingsFile().string()), QSettings::IniFormat);
    settings.setValue(QStringLiteral("window/geometry"), geometry);
    settings.setValue(QStringLiteral("window/page"), page);
    settings.setValue(QStringLiteral("window/layout"), layout);
    for (auto page = pages.begin(); page != pages.end(); ++page) {
        if (page->toMap().isEmpty())
            settings.remove(page.key() + QLatin1String(kPageState));
        else
            settings.setValue(page.key() + QLatin1String(kPageState), *page);
    }
    settings.setValue(QStringLiteral("view/keys"), keys);
    settings.setValue(QStringLiteral("plans/open"), openPlans);
    settings.setValue(QStringLiteral("plans/current"), currentPlan);
    settings.setValue(QStringLiteral("plans/recent"), recentPlans);
    settings.setValue(QStringLiteral("projects/open"), project);
    settings.setValue(QStringLiteral("projects/recent"), recentProjects);
    settings.setValue(QStringLiteral("view/theme"), spelling(theme));
    settings.setValue(QStringLiteral("view/zoom"), zoom);
}

void Session::addRecent(const QString& file)
{
    putFirst(recentPlans, file);
}

void Session::addRecentProject(const QString& folder)
{
    project = folder;
    putFirst(recentProjects, folder);
}

} // namespace fourfold::ui
