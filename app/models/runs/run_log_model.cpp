// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/runs/run_log_model.h"

#include "app/models/shared/text.h"

namespace fourfold::ui {

namespace {
constexpr ColumnsModel::Column kLogColumns[]{{QT_TRANSLATE_NOOP("fourfold::ui::RunLogModel", "Time")},
    {QT_TRANSLATE_NOOP("fourfold::ui::RunLogModel", "What")},
    {QT_TRANSLATE_NOOP("fourfold::ui::RunLogModel", "Details")}};
} // namespace

RunLogModel::RunLogModel(QObject* parent)
    : ColumnsModel(kLogColumns, parent)
{
}

void RunLogModel::follow(const std::deque<view::LogLine>& log, std::size_t count)
{
    const std::size_t fresh = std::min(count - std::exchange(m_count, count), log.size());
    const std::size_t kept = std::min(log.size() - fresh, m_lines.size()), gone = m_lines.size() - kept;
    if (gone > 0) {
        beginRemoveRows({}, 0, static_cast<int>(gone) - 1);
        m_lines.erase(m_lines.begin(), m_lines.begin() + static_cast<std::ptrdiff_t>(gone));
        endRemoveRows();
    }
    if (kept > 0 && m_lines.back() != log[kept - 1]) { // said on, with more
        m_lines.back() = log[kept - 1];
        emit dataChanged(index(rows() - 1, 0), index(rows() - 1, columns - 1));
    }
    if (kept == log.size())
        return;
    beginInsertRows({}, static_cast<int>(kept), static_cast<int>(log.size()) - 1);
    m_lines.insert(m_lines.end(), log.begin() + static_cast<std::ptrdiff_t>(kept), log.end());
    endInsertRows();
}

QVariant RunLogModel::cell(int row, int column, int role) const
{
    const view::LogLine& line = m_lines[static_cast<std::size_t>(row)];
    if (role == LevelRole)
        return static_cast<int>(line.tone);
    if (role != Qt::DisplayRole && (role != Qt::ToolTipRole || column != message))
        return {};
    return fromUtf8(column == time ? line.time : column == kind ? line.kind : line.text);
}

} // namespace fourfold::ui
