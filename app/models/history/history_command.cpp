// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/history/history_command.h"

#include "app/models/shared/text.h"

namespace fourfold::ui {

HistoryCommand::HistoryCommand(view::HistoryStep step, std::function<void(const Expected<void>&)> done)
    : QUndoCommand(fromUtf8(step.text))
    , m_step(std::move(step))
    , m_done(std::move(done))
{
}

void HistoryCommand::run(const view::HistoryChange& change)
{
    const Expected<void> outcome = change();
    if (!outcome)
        setObsolete(true); // nothing was done: there is nothing to take back
    m_done(outcome);
}

} // namespace fourfold::ui
