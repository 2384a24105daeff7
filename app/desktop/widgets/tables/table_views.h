// SPDX-License-Identifier: GPL-3.0-or-later
// Views of a table that are kept by a name: which columns, in which order and width, sorted by which, and what else
// belongs to it (DataTable::setViewParts()). They are the table's, whichever window shows it.
#pragma once

#include <QStringList>
#include <QVariantMap>

#include <functional>

class QMenu;

namespace fourfold::ui {

class DataTable;

QStringList viewsOf(const DataTable& table); // their names
void saveView(const DataTable& table, const QString& name); // one of the same name goes
bool showView(DataTable& table, const QString& name); // false where there is none
void forgetView(const DataTable& table, const QString& name);

// Where an open project keeps views: those of a table, by its name. New ones go there, and of two of one name it has
// the one that is shown; the user's own are offered beside them. Empty: no project is open.
struct ViewStore {
    std::function<QVariantMap(const QString& table)> get;
    std::function<void(const QString& table, const QVariantMap& views)> put;
};
void keepViewsIn(ViewStore store);

// Entries for all of this; none for a table without a name.
void addViews(QMenu& menu, DataTable& table);

} // namespace fourfold::ui
