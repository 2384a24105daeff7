// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/tables/table_views.h"

#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/models/shared/text.h"
#include "core/base/text.h"

#include <QHeaderView>
#include <QInputDialog>
#include <QMenu>

#include <algorithm>
#include <optional>
#include <utility>

namespace fourfold::ui {

using view::SavedView;
using view::SavedViews;

namespace {
ViewStore& projectStore()
{
    static ViewStore store;
    return store;
}

Json ofProject(const DataTable& table)
{
    return projectStore().get ? projectStore().get(table.objectName().toStdString()) : Json::object();
}

SavedViews kept(const DataTable& table)
{
    return SavedViews(table.objectName().toStdString());
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

std::optional<QString> askForName(const DataTable& table, const QString& title, const QString& now)
{
    bool accepted = false;
    const QString name
        = QInputDialog::getText(table.window(), title, tr("Name of this view:"), QLineEdit::Normal, now, &accepted)
              .trimmed();
    return accepted && !name.isEmpty() ? std::optional(name) : std::nullopt;
}

// An ampersand would be taken for a mnemonic.
QString menuText(QString name)
{
    return name.replace(QLatin1Char('&'), QStringLiteral("&&"));
}
} // namespace

void keepViewsIn(ViewStore store)
{
    projectStore() = std::move(store);
}

QStringList viewsOf(const DataTable& table)
{
    QStringList names;
    if (const auto all = kept(table).names()) {
        for (const std::string& name : *all)
            names << exactText(name);
    }
    const Json projects = ofProject(table);
    for (const auto& [name, view] : projects.items()) {
        if (!names.contains(exactText(name)))
            names << exactText(name);
    }
    return names;
}

Expected<void> saveView(const DataTable& table, const QString& name)
{
    if (!projectStore().put)
        return kept(table).keep(name.toStdString(), viewOf(table));
    FOURFOLD_TRY(const std::string wanted, view::usable_view_name(name.toStdString()));
    Json views = ofProject(table);
    views[wanted] = view::to_json(viewOf(table));
    projectStore().put(table.objectName().toStdString(), views);
    return {};
}

Expected<void> showView(DataTable& table, const QString& name)
{
    if (const Json views = ofProject(table); views.contains(name.toStdString())) {
        show(table, view::saved_view_from_json(views.at(name.toStdString())));
        return {};
    }
    FOURFOLD_TRY(const SavedView view, kept(table).find(name.toStdString()));
    show(table, view);
    return {};
}

Expected<void> renameView(const DataTable& table, const QString& name, const QString& to)
{
    Json views = ofProject(table);
    if (!views.contains(name.toStdString()))
        return kept(table).rename(name.toStdString(), to.toStdString());
    FOURFOLD_TRY(const std::string wanted, view::usable_view_name(to.toStdString()));
    if (wanted == name.toStdString())
        return {};
    if (views.contains(wanted))
        return Problem{ProblemCode::conflict, "there is a view " + in_quotes(wanted) + " already", "", ""};
    views[wanted] = views[name.toStdString()];
    views.erase(name.toStdString());
    projectStore().put(table.objectName().toStdString(), views);
    return {};
}

// One of the user's own of this name is there again where a project's goes.
Expected<void> forgetView(const DataTable& table, const QString& name)
{
    Json views = ofProject(table);
    if (!views.contains(name.toStdString()))
        return kept(table).forget(name.toStdString());
    views.erase(name.toStdString());
    projectStore().put(table.objectName().toStdString(), views);
    return {};
}

void addViews(QMenu& menu, DataTable& table)
{
    if (table.objectName().isEmpty())
        return;
    const auto told
        = [&table](const Expected<void>& outcome) { succeeded(table.window(), tr("Views of tables"), outcome); };
    QMenu* all = menu.addMenu(tr("Views"));
    const QStringList names = viewsOf(table);
    for (const QString& name : names)
        all->addAction(menuText(name), &table, [&table, name, told] { told(showView(table, name)); });
    if (!names.isEmpty())
        all->addSeparator();
    all->addAction(tr("Save this view\u2026"), &table, [&table, told] {
        if (const auto name = askForName(table, tr("Save view"), {}))
            told(saveView(table, *name));
    });
    all->addAction(tr("All columns again"), &table, [&table] { table.resetColumns(); });
    if (names.isEmpty())
        return;
    QMenu* rename = all->addMenu(tr("Rename"));
    QMenu* forget = all->addMenu(tr("Forget"));
    for (const QString& name : names) {
        rename->addAction(menuText(name), &table, [&table, name, told] {
            if (const auto to = askForName(table, tr("Rename view"), name))
                told(renameView(table, name, *to));
        });
        forget->addAction(menuText(name), &table, [&table, name, told] { told(forgetView(table, name)); });
    }
}

} // namespace fourfold::ui
