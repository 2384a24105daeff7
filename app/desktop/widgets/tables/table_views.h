// SPDX-License-Identifier: GPL-3.0-or-later
// Views of a table that are kept by a name (app/view/tables/saved_views.h), in and out of the window's tables: with the
// widths of columns, and what else belongs to a table (DataTable::setViewParts()).
#pragma once

#include "app/view/tables/saved_views.h"

#include <QStringList>

class QMenu;

namespace fourfold::ui {

class DataTable;

QStringList viewsOf(const DataTable& table); // their names; none where the file of them cannot be used
Expected<void> saveView(const DataTable& table, const QString& name); // one of the same name goes
Expected<void> showView(DataTable& table, const QString& name);
Expected<void> renameView(const DataTable& table, const QString& name, const QString& to);
Expected<void> forgetView(const DataTable& table, const QString& name);

// Where an open project keeps views: new ones go there, and of two of one name it has the one that is shown; the user's
// own are offered beside them. Empty: no project is open.
void keepViewsIn(view::ViewStore store);

// Entries for all of this; none for a table without a name.
void addViews(QMenu& menu, DataTable& table);

} // namespace fourfold::ui
