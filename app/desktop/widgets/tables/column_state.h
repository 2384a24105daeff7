// SPDX-License-Identifier: GPL-3.0-or-later
// The columns of a table as words and numbers that can be kept in a text file: which are on show, in which order and
// width, and by which it is sorted. A column is named by its title: columns that come later are not on show in what was
// kept before.
#pragma once

#include <QVariantMap>

class QTableView;

namespace fourfold::ui {

QVariantMap columnsOf(const QTableView& table);
// Titles that the table has not are left out; where it has none of them nothing changes.
void showColumns(QTableView& table, const QVariantMap& columns);

} // namespace fourfold::ui
