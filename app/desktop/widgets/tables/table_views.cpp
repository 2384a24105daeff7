// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/tables/table_views.h"

#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/kept_names.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/models/shared/text.h"

#include <QHeaderView>
#include <QMenu>

#include <algorithm>
#include <utility>
#include <vector>

namespace fourfold::ui {

using view::SavedView;
using view::SavedViews;

namespace {
view::ViewStore& projectStore()
{
    static view::ViewStore store;
    return store;
}

SavedViews keptOf(const DataTable& table)
{
    return view::views_beside(projectStore(), table.objectName().toStdString());
}

std::string nameOf(const DataTable& table, int column)
{
    return view::column_name(table.model()->headerData(column, Qt::Horizontal).toString().toStdString());
}

SavedView viewOf(const DataTable& table)
{
    SavedView view;
    const QHeaderView* header = table.horizontalHeader();
    for (int place = 0; place < header->count(); ++place) {
        const int column = header->logicalIndex(place);
        view.columns.push_back(nameOf(table, column));
        if (header->isSectionHidden(column))
            view.hidden.push_back(view.columns.back());
        else
            view.widths[view.columns.back()] = qRound(header->sectionSize(column) * 100.0 / zoom());
    }
    if (const int sorted = header->sortIndicatorSection();
        table.isSortingEnabled() && sorted >= 0 && sorted < header->count()) {
        view.sorted = nameOf(table, sorted);
        view.falling = header->sortIndicatorOrder() == Qt::DescendingOrder;
    }
    if (table.viewParts().get)
        table.viewParts().get(view);
    return view;
}

// Columns that the view does not know stand behind those that it does, as they are.
void show(DataTable& table, const SavedView& view)
{
    QHeaderView* header = table.horizontalHeader();
    int place = 0, shown = 0, sorted = -1;
    for (const std::string& name : view.columns) {
        for (int column = 0; column < header->count(); ++column) {
            if (nameOf(table, column) != name)
                continue;
            header->moveSection(header->visualIndex(column), place++);
            header->setSectionHidden(column, std::ranges::find(view.hidden, name) != view.hidden.end());
            shown += header->isSectionHidden(column) ? 0 : 1;
            if (name == view.sorted)
                sorted = column;
        }
    }
    if (place == header->count() && shown == 0)
        table.resetColumns(); // it was written by hand
    if (view.widths.empty())
        table.resetWidths();
    for (int column = 0; column < header->count(); ++column) {
        const auto width = view.widths.find(nameOf(table, column));
        if (width != view.widths.end() && !header->isSectionHidden(column))
            header->resizeSection(column, px(width->second));
    }
    if (table.isSortingEnabled() && sorted >= 0)
        table.sortByColumn(sorted, view.falling ? Qt::DescendingOrder : Qt::AscendingOrder);
    if (table.viewParts().put)
        table.viewParts().put(view);
}
} // namespace

void keepViewsIn(view::ViewStore store)
{
    projectStore() = std::move(store);
}

QStringList viewsOf(const DataTable& table)
{
    QStringList names;
    if (const auto all = keptOf(table).names()) {
        for (const std::string& name : *all)
            names << exactText(name);
    }
    return names;
}

Expected<void> saveView(const DataTable& table, const QString& name)
{
    return keptOf(table).keep(name.toStdString(), viewOf(table));
}

Expected<void> showView(DataTable& table, const QString& name)
{
    FOURFOLD_TRY(const SavedView view, keptOf(table).find(name.toStdString()));
    show(table, view);
    return {};
}

Expected<void> renameView(const DataTable& table, const QString& name, const QString& to)
{
    return keptOf(table).rename(name.toStdString(), to.toStdString());
}

Expected<void> forgetView(const DataTable& table, const QString& name)
{
    return keptOf(table).forget(name.toStdString());
}

void addViews(QMenu& menu, DataTable& table)
{
    if (table.objectName().isEmpty())
        return;
    const auto told
        = [&table](const Expected<void>& outcome) { succeeded(table.window(), tr("Views of tables"), outcome); };
    QMenu* all = menu.addMenu(tr("Views"));
    QAction* behind = addKeptNames(*all, table,
        {viewsOf(table), [&table, told](const QString& name) { told(showView(table, name)); },
            [&table, told](const QString& name) { told(saveView(table, name)); },
            [&table, told](const QString& name) { told(forgetView(table, name)); },
            [&table, told](const QString& name, const QString& to) { told(renameView(table, name, to)); },
            tr("Save this view\u2026"), tr("Save view"), tr("Rename view"), tr("Name of this view:")});
    auto* columns = new QAction(tr("All columns again"), all);
    QObject::connect(columns, &QAction::triggered, &table, [&table] { table.resetColumns(); });
    all->insertAction(behind, columns);
}

} // namespace fourfold::ui
