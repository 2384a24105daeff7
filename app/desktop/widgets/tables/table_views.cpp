// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/tables/table_views.h"

#include "app/desktop/widgets/tables/data_table.h"
#include "app/models/shared/text.h"
#include "core/base/paths.h"

#include <QHeaderView>
#include <QInputDialog>
#include <QMenu>
#include <QSettings>

#include <filesystem>

namespace fourfold::ui {

namespace {
const QString kHeader = QStringLiteral("header"), kParts = QStringLiteral("parts");

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

QVariantMap kept(const DataTable& table)
{
    if (!isUsable())
        return {};
    const QSettings settings(exactText(viewsFile().string()), QSettings::IniFormat);
    return settings.value(table.objectName()).toMap();
}

void keep(const DataTable& table, const QVariantMap& views)
{
    if (!isUsable())
        return;
    QSettings settings(exactText(viewsFile().string()), QSettings::IniFormat);
    settings.setValue(table.objectName(), views);
}

void askToSave(DataTable& table)
{
    bool accepted = false;
    const QString name = QInputDialog::getText(
        table.window(), tr("Save view"), tr("Name of this view:"), QLineEdit::Normal, {}, &accepted)
                             .trimmed();
    if (accepted && !name.isEmpty())
        saveView(table, name);
}
} // namespace

QStringList viewsOf(const DataTable& table)
{
    return kept(table).keys();
}

void saveView(const DataTable& table, const QString& name)
{
    QVariantMap view{{kHeader, table.horizontalHeader()->saveState()}};
    if (table.viewParts().get)
        view.insert(kParts, table.viewParts().get());
    QVariantMap views = kept(table);
    views.insert(name, view);
    keep(table, views);
}

bool showView(DataTable& table, const QString& name)
{
    const QVariantMap views = kept(table);
    const auto found = views.find(name);
    if (found == views.end())
        return false;
    const QVariantMap view = found->toMap();
    QHeaderView* header = table.horizontalHeader();
    header->restoreState(view.value(kHeader).toByteArray());
    if (table.isSortingEnabled())
        table.sortByColumn(header->sortIndicatorSection(), header->sortIndicatorOrder());
    if (table.viewParts().put)
        table.viewParts().put(view.value(kParts).toMap());
    return true;
}

void forgetView(const DataTable& table, const QString& name)
{
    QVariantMap views = kept(table);
    views.remove(name);
    keep(table, views);
}

void addViews(QMenu& menu, DataTable& table)
{
    if (table.objectName().isEmpty())
        return;
    QMenu* all = menu.addMenu(tr("Views"));
    const QStringList names = viewsOf(table);
    for (const QString& name : names) {
        // An ampersand would be taken for a mnemonic.
        all->addAction(QString(name).replace(QLatin1Char('&'), QStringLiteral("&&")), &table,
            [&table, name] { showView(table, name); });
    }
    if (!names.isEmpty())
        all->addSeparator();
    all->addAction(tr("Save this view\u2026"), &table, [&table] { askToSave(table); });
    all->addAction(tr("All columns again"), &table, [&table] { table.resetColumns(); });
    if (names.isEmpty())
        return;
    QMenu* forget = all->addMenu(tr("Forget"));
    for (const QString& name : names)
        forget->addAction(QString(name).replace(QLatin1Char('&'), QStringLiteral("&&")), &table,
            [&table, name] { forgetView(table, name); });
}

} // namespace fourfold::ui
