// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/runs/run_log_model.h"

namespace fourfold::ui {

namespace {
constexpr std::size_t kMaxLines = 2000;
constexpr ColumnsModel::Column kLogColumns[]{{QT_TRANSLATE_NOOP("fourfold::ui::RunLogModel", "Time")},
    {QT_TRANSLATE_NOOP("fourfold::ui::RunLogModel", "What")},
    {QT_TRANSLATE_NOOP("fourfold::ui::RunLogModel", "Details")}};
} // namespace

RunLogModel::RunLogModel(QObject* parent)
    : ColumnsModel(kLogColumns, parent)
{
}

void RunLogModel::add(view::Tone level, const QString& kind, const QString& message, const QDateTime& time)
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

void RunLogModel::update(view::Tone level, const QString& kind, const QString& message)
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

QVariant RunLogModel::cell(int row, int column, int role) const
{
    const Line& line = m_lines[static_cast<std::size_t>(row)];
    if (role == LevelRole)
        return static_cast<int>(line.level);
    if (role == Qt::ToolTipRole && column == message)
        return line.message;
    if (role != Qt::DisplayRole)
        return {};
    return column == time ? line.time.toString(QStringLiteral("HH:mm:ss")) : column == kind ? line.kind : line.message;
}

} // namespace fourfold::ui
