// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/plan/edit_command.h"

namespace fourfold::ui {

namespace {
constexpr int kMergeableId = 1;
}

EditCommand::EditCommand(const QString& text, QString mergeKey, Plan before, Plan after, Show show)
    : QUndoCommand(text)
    , m_mergeKey(std::move(mergeKey))
    , m_before(std::move(before))
    , m_after(std::move(after))
    , m_show(std::move(show))
{
}

void EditCommand::undo()
{
    m_show(m_before);
}

void EditCommand::redo()
{
    m_show(m_after);
}

int EditCommand::id() const
{
    return m_mergeKey.isEmpty() ? -1 : kMergeableId;
}

bool EditCommand::mergeWith(const QUndoCommand* other)
{
    const auto* next = static_cast<const EditCommand*>(other);
    if (next->m_mergeKey != m_mergeKey)
        return false;
    m_after = next->m_after;
    setObsolete(m_after.document == m_before.document);
    return true;
}

} // namespace fourfold::ui
