// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/shared/table_model.h"

#include "app/models/shared/text.h"

namespace fourfold::ui {

namespace {
bool isNumber(const Cell& cell)
{
    return std::holds_alternative<double>(cell) || std::holds_alternative<std::int64_t>(cell);
}
// Tables of the command line have titles in lower case; in the window all begin alike.
QString titleOf(const Column& column)
{
    QString title = fromUtf8(column.title.empty() ? column.key : column.title);
    if (!column.title.empty())
        title[0] = title[0].toUpper();
    return title;
}
} // namespace

TableModel::TableModel(Table table, QObject* parent)
    : QAbstractTableModel(parent)
    , m_table(std::move(table))
{
}

void TableModel::show(Table table)
{
    beginResetModel();
    m_table = std::move(table);
    endResetModel();
}

int TableModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_table.rows.size());
}

int TableModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_table.columns.size());
}

QVariant TableModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const auto column = static_cast<std::size_t>(index.column());
    const Cell& cell = m_table.rows[static_cast<std::size_t>(index.row())][column];
    if (role == Qt::DisplayRole)
        return fromUtf8(shown(cell, m_table.columns[column]));
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::AlignVCenter | (isNumber(cell) ? Qt::AlignRight : Qt::AlignLeft));
    return {};
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
        return {};
    const Column& column = m_table.columns[static_cast<std::size_t>(section)];
    if (role == Qt::DisplayRole)
        return titleOf(column);
    if (role == Qt::TextAlignmentRole && rowCount() > 0)
        return data(index(0, section), role);
    return {};
}

} // namespace fourfold::ui
