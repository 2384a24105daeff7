// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/shared/columns_model.h"

namespace fourfold::ui {

int ColumnsModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_columns.size());
}

QVariant ColumnsModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(m_columns[static_cast<std::size_t>(index.column())].side | Qt::AlignVCenter);
    return cell(index.row(), index.column(), role);
}

QVariant ColumnsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
        return {};
    const Column& column = m_columns[static_cast<std::size_t>(section)];
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue((column.side == Qt::AlignRight ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role == Qt::ToolTipRole && *column.about != '\0')
        return metaObject()->tr(column.about, nullptr);
    return role == Qt::DisplayRole ? QVariant(metaObject()->tr(column.title, nullptr)) : QVariant();
}

QList<int> ColumnsModel::widthsOf(std::span<const Column> columns)
{
    QList<int> widths;
    for (const Column& column : columns)
        widths << column.width;
    return widths;
}

void ColumnsModel::allChanged()
{
    if (rows() > 0)
        emit dataChanged(index(0, 0), index(rows() - 1, columnCount() - 1));
}

} // namespace fourfold::ui
