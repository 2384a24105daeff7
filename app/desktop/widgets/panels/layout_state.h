// SPDX-License-Identifier: GPL-3.0-or-later
// Sizes that the user dragged, columns that were chosen and what else a widget keeps: splitters, tables and properties,
// by object name. Saved in the session; one call puts everything back to where the design has it.
#pragma once

#include <QMap>
#include <QSplitter>
#include <QVariant>

namespace fourfold::ui {

// A splitter whose parts cannot be dragged away. `shares` are the sizes at the beginning, in any unit.
QSplitter* makeSplitter(
    const QString& name, Qt::Orientation orientation, const QList<QWidget*>& parts, const QList<int>& shares);
// The same of a splitter that is there already.
QSplitter* arrangeSplitter(
    QSplitter* splitter, const QString& name, const QList<QWidget*>& parts, const QList<int>& shares);

// The property is kept with the layout from here on; what it is now is what the design has.
void keepProperty(QWidget* widget, const char* property);

using LayoutState = QMap<QString, QVariant>;
LayoutState layoutOf(const QWidget* window);
// Names that the window does not know are left alone.
void applyLayout(QWidget* window, const LayoutState& state);
// Splitters back to their shares, tables to all of their columns, as DataTable::setWidths() gave them, properties to
// what they were.
void resetLayout(QWidget* window);

} // namespace fourfold::ui
