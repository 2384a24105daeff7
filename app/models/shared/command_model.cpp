// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/shared/command_model.h"

#include <algorithm>
#include <numeric>

namespace fourfold::ui {

namespace {
// 0: no match; more is better.
int score(const Command& command, const QStringList& words)
{
    int total = 1;
    for (const QString& word : words) {
        const qsizetype at = command.text.indexOf(word, 0, Qt::CaseInsensitive);
        if (at == 0)
            total += 4;
        else if (at > 0)
            total += command.text[at - 1].isLetterOrNumber() ? 1 : 3; // the beginning of a word counts more
        else if (!command.group.contains(word, Qt::CaseInsensitive))
            return 0;
    }
    return total;
}
} // namespace

CommandModel::CommandModel(std::vector<Command> commands, QObject* parent)
    : QAbstractListModel(parent)
    , m_commands(std::move(commands))
    , m_visible(m_commands.size())
{
    std::iota(m_visible.begin(), m_visible.end(), std::size_t{0});
}

void CommandModel::setFilter(const QString& text)
{
    const QStringList words = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    std::vector<std::pair<int, std::size_t>> found;
    for (std::size_t i = 0; i < m_commands.size(); ++i) {
        if (const int points = score(m_commands[i], words); points > 0)
            found.emplace_back(-points, i);
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    beginResetModel();
    m_visible.clear();
    for (const auto& [points, index] : found)
        m_visible.push_back(index);
    endResetModel();
}

void CommandModel::run(int row) const
{
    if (row >= 0 && row < rowCount())
        m_commands[m_visible[static_cast<std::size_t>(row)]].run();
}

int CommandModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_visible.size());
}

QVariant CommandModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Command& command = m_commands[m_visible[static_cast<std::size_t>(index.row())]];
    switch (role) {
    case Qt::DisplayRole:
        return command.text;
    case Qt::AccessibleTextRole:
        return QStringLiteral("%1, %2, %3").arg(command.text, command.group, command.keys);
    case GroupRole:
        return command.group;
    case KeysRole:
        return command.keys;
    default:
        return {};
    }
}

} // namespace fourfold::ui
