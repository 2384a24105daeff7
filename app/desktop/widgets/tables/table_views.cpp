// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/tables/table_views.h"

#include "app/desktop/widgets/panels/kept_names.h"
#include "app/desktop/widgets/tables/column_state.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/models/shared/text.h"
#include "core/base/paths.h"

#include <QHeaderView>
#include <QMenu>
#include <QSettings>

#include <filesystem>
#include <utility>

namespace fourfold::ui {

namespace {
const QString kKeptColumns = QStringLiteral("columns"), kKeptParts = QStringLiteral("parts");
const QString kKeptHeader = QStringLiteral("header"); // Qt's own form of the columns, of versions before projects

ViewStore& projectStore()
{
    static ViewStore store;
    return store;
}

std::filesystem::path viewsFile()
{
    return config_folder() / "desktop-views.ini";
}

// Qt would wait for who writes into a pipe.
bool isUsable()
{
    std::error_code error;
    const auto status = std::filesystem::status(viewsFile(), error);
    return !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
}

QVariantMap usersOwn(const QString& table)
{
    if (!isUsable())
        return {};
    const QSettings settings(exactText(viewsFile().string()), QSettings::IniFormat);
    return settings.value(table).toMap();
}

void keepAsUsersOwn(const QString& table, const QVariantMap& views)
{
    if (!isUsable())
        return;
    QSettings settings(exactText(viewsFile().string()), QSettings::IniFormat);
    settings.setValue(table, views);
}

QVariantMap ofProject(const QString& table)
{
    return projectStore().get ? projectStore().get(table) : QVariantMap();
}

QVariantMap allOf(const QString& table)
{
    QVariantMap views = usersOwn(table);
    views.insert(ofProject(table));
    return views;
}
} // namespace

void keepViewsIn(ViewStore store)
{
    projectStore() = std::move(store);
}

QStringList viewsOf(const DataTable& table)
{
    return allOf(table.objectName()).keys();
}

void saveView(const DataTable& table, const QString& name)
{
    QVariantMap view{{kKeptColumns, columnsOf(table)}};
    if (table.viewParts().get)
        view.insert(kKeptParts, table.viewParts().get());
    const QString key = table.objectName();
    const bool isProjects = static_cast<bool>(projectStore().put);
    QVariantMap views = isProjects ? ofProject(key) : usersOwn(key);
    views.insert(name, view);
    if (isProjects)
        projectStore().put(key, views);
    else
        keepAsUsersOwn(key, views);
}

bool showView(DataTable& table, const QString& name)
{
    const QVariantMap views = allOf(table.objectName());
    const auto found = views.find(name);
    if (found == views.end())
        return false;
    const QVariantMap view = found->toMap();
    if (view.contains(kKeptHeader)) {
        QHeaderView* header = table.horizontalHeader();
        header->restoreState(view.value(kKeptHeader).toByteArray());
        if (table.isSortingEnabled())
            table.sortByColumn(header->sortIndicatorSection(), header->sortIndicatorOrder());
    }
    showColumns(table, view.value(kKeptColumns).toMap());
    if (table.viewParts().put)
        table.viewParts().put(view.value(kKeptParts).toMap());
    return true;
}

void forgetView(const DataTable& table, const QString& name)
{
    const QString key = table.objectName();
    QVariantMap projects = ofProject(key);
    if (projects.remove(name) > 0) {
        projectStore().put(key, projects);
        return; // one of the user's of this name is there again
    }
    QVariantMap views = usersOwn(key);
    views.remove(name);
    keepAsUsersOwn(key, views);
}

void addViews(QMenu& menu, DataTable& table)
{
    if (table.objectName().isEmpty())
        return;
    QMenu* all = menu.addMenu(tr("Views"));
    addKeptNames(*all, table,
        {viewsOf(table), [&table](const QString& name) { showView(table, name); },
            [&table](const QString& name) { saveView(table, name); },
            [&table](const QString& name) { forgetView(table, name); }, tr("Save this view\u2026"), tr("Save view"),
            tr("Name of this view:")});
    all->addAction(tr("All columns again"), &table, [&table] { table.resetColumns(); });
}

} // namespace fourfold::ui
