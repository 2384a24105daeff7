// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/history/history_model.h"

#include "app/models/shared/text.h"
#include "app/view/runs/live_run.h"

#include <algorithm>
#include <array>

namespace fourfold::ui {

namespace {
const auto& runColumns()
{
    static const auto all = [] {
        constexpr int widths[HistoryModel::columns]{132, 100, 76, 78, 158, 56, 58, 84, 84, 74, 96, 84, 84, 64, 54, 136};
        std::array<ColumnsModel::Column, HistoryModel::columns> columns;
        for (int i = 0; i < HistoryModel::columns; ++i)
            columns[static_cast<std::size_t>(i)] = {view::RunsList::title(i), widths[i],
                view::RunsList::is_number(i) ? Qt::AlignRight : Qt::AlignLeft, view::RunsList::about(i)};
        return columns;
    }();
    return all;
}

bool is(const RunSummary& run, const QString& id)
{
    return fromUtf8(run.id) == id;
}
} // namespace

HistoryModel::HistoryModel(QObject* parent)
    : ColumnsModel(runColumns(), parent)
{
}

QList<int> HistoryModel::widths()
{
    return widthsOf(runColumns());
}

void HistoryModel::show(std::vector<RunSummary> runs)
{
    beginResetModel();
    m_list.show(std::move(runs));
    endResetModel();
}

void HistoryModel::setFilter(const QString& words)
{
    beginResetModel();
    m_list.set_words(words.toStdString());
    endResetModel();
}

void HistoryModel::setFilter(const Expression& expression)
{
    beginResetModel();
    m_list.set_expression(expression);
    endResetModel();
}

int HistoryModel::rowOf(const QString& id) const
{
    for (int row = 0; row < rowCount(); ++row) {
        if (is(run(row), id))
            return row;
    }
    return -1;
}

const RunSummary* HistoryModel::find(const QString& id) const
{
    const std::vector<RunSummary>& all = m_list.all();
    const auto found = std::find_if(all.begin(), all.end(), [&](const RunSummary& run) { return is(run, id); });
    return found == all.end() ? nullptr : &*found;
}

void HistoryModel::sort(int column, Qt::SortOrder order)
{
    emit layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
    const std::vector<std::size_t> before = m_list.visible();
    m_list.sort(column, order == Qt::DescendingOrder);
    std::vector<int> rowOfRun(m_list.all().size(), -1);
    for (int row = 0; row < rows(); ++row)
        rowOfRun[m_list.visible()[static_cast<std::size_t>(row)]] = row;
    const QModelIndexList old = persistentIndexList();
    QModelIndexList moved;
    moved.reserve(old.size());
    for (const QModelIndex& index : old)
        moved << this->index(rowOfRun[before[static_cast<std::size_t>(index.row())]], index.column());
    changePersistentIndexList(old, moved);
    emit layoutChanged({}, QAbstractItemModel::VerticalSortHint);
}

QVariant HistoryModel::cell(int row, int column, int role) const
{
    const RunSummary& at = run(row);
    switch (role) {
    case Qt::DisplayRole:
        return fromUtf8(view::RunsList::text(at, column));
    case Qt::ToolTipRole:
        return fromUtf8(view::RunsList::tip(at, column));
    case IdRole:
        return fromUtf8(at.id);
    case LevelRole:
        return column == state ? QVariant(static_cast<int>(view::state_tone(at.state))) : QVariant();
    default:
        return {};
    }
}

} // namespace fourfold::ui
