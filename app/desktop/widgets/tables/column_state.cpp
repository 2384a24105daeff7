// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/tables/column_state.h"

#include "app/desktop/look/zoom.h"

#include <QHeaderView>
#include <QTableView>

namespace fourfold::ui {

namespace {
const QString kColumns = QStringLiteral("columns"), kTitle = QStringLiteral("title"),
              kShownWidth = QStringLiteral("width"), kSortedBy = QStringLiteral("sorted_by"),
              kDescending = QStringLiteral("descending");

QString columnTitle(const QTableView& table, int column)
{
    return table.model()->headerData(column, Qt::Horizontal).toString();
}

int columnCalled(const QTableView& table, const QString& title)
{
    for (int column = 0; column < table.model()->columnCount(); ++column) {
        if (columnTitle(table, column) == title)
            return column;
    }
    return -1;
}
} // namespace

QVariantMap columnsOf(const QTableView& table)
{
    const QHeaderView& header = *table.horizontalHeader();
    QVariantList columns;
    for (int place = 0; place < header.count(); ++place) {
        const int column = header.logicalIndex(place);
        if (!header.isSectionHidden(column)) // widths at 100 %
            columns << QVariantMap{
                {kTitle, columnTitle(table, column)}, {kShownWidth, header.sectionSize(column) * 100 / zoom()}};
    }
    QVariantMap state{{kColumns, columns}};
    const int sorted = header.sortIndicatorSection();
    if (table.isSortingEnabled() && sorted >= 0 && sorted < header.count()) {
        state.insert(kSortedBy, columnTitle(table, sorted));
        state.insert(kDescending, header.sortIndicatorOrder() == Qt::DescendingOrder);
    }
    return state;
}

void showColumns(QTableView& table, const QVariantMap& columns)
{
    QHeaderView& header = *table.horizontalHeader();
    QList<std::pair<int, int>> shown; // and their widths
    for (const QVariant& kept : columns.value(kColumns).toList()) {
        const QVariantMap column = kept.toMap();
        if (const int at = columnCalled(table, column.value(kTitle).toString()); at >= 0)
            shown.append({at, column.value(kShownWidth).toInt()});
    }
    if (shown.isEmpty())
        return;
    for (int column = 0; column < header.count(); ++column)
        header.setSectionHidden(column, true);
    for (int place = 0; place < shown.size(); ++place) {
        const auto [column, width] = shown[place];
        header.moveSection(header.visualIndex(column), place);
        header.setSectionHidden(column, false);
        header.resizeSection(column, px(width));
    }
    const int sorted = columnCalled(table, columns.value(kSortedBy).toString());
    if (sorted >= 0 && table.isSortingEnabled())
        table.sortByColumn(sorted, columns.value(kDescending).toBool() ? Qt::DescendingOrder : Qt::AscendingOrder);
}

} // namespace fourfold::ui
