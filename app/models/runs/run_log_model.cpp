// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/runs/run_log_model.h"

namespace fourfold::ui {

namespace {
constexpr std::size_t kMaxLines = 2000;
}

void RunLogModel::add(Level level, const QString& kind, const QString& message, const QDateTime& time)
{
    if (m_lines.size() >= kMaxLines) {
        beginRemoveRows({}, 0, 0);
        m_lines.pop_front();
        endRemoveRows();
    }
    const int row = static_cast<int>(m_lines.size());
    beginInsertRows({}, row, row);
    m_lines.push_back({time.isValid() ? time.toLocalTime() : QDateTime::currentDateTime(), level, kind, message});
    endInsertRows();
}

void RunLogModel::update(Level level, const QString& kind, const QString& message)
{
    if (m_lines.empty() || m_lines.back().kind != kind) {
        add(level, kind, message);
        return;
    }
    Line& line = m_lines.back();
    line.level = level;
    line.message = message;
    const int row = static_cast<int>(m_lines.size()) - 1;
    emit dataChanged(index(row, 0), index(row, columns - 1));
}

void RunLogModel::clear()
{
    beginResetModel();
    m_lines.clear();
    endResetModel();
}

int RunLogModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_lines.size());
}

int RunLogModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : columns;
}

QVariant RunLogModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const Line& line = m_lines[static_cast<std::size_t>(index.row())];
    if (role == LevelRole)
        return static_cast<int>(line.level);
    if (role == Qt::ToolTipRole && index.column() == message)
        return line.message;
    if (role != Qt::DisplayRole)
        return {};
    switch (index.column()) {
    case time:
        return line.time.toString(QStringLiteral("HH:mm:ss"));
    case kind:
        return line.kind;
    default:
        return line.message;
    }
}

QVariant RunLogModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractTableModel::headerData(section, orientation, role);
    switch (section) {
    case time:
        return tr("Time");
    case kind:
        return tr("What");
    default:
        return tr("Details");
    }
}

} // namespace fourfold::ui
