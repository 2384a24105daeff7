// SPDX-License-Identifier: GPL-3.0-or-later
// A step of app/view's history edits on the window's undo stack.
#pragma once

#include "app/view/history/history_edits.h"

#include <QUndoCommand>

namespace fourfold::ui {

class HistoryCommand : public QUndoCommand {
public:
    // `done` is called after each change with its outcome.
    HistoryCommand(view::HistoryStep step, std::function<void(const Expected<void>&)> done);
    void undo() override { run(m_step.undo); }
    void redo() override { run(m_step.redo); }

private:
    void run(const view::HistoryChange& change);

    view::HistoryStep m_step;
    std::function<void(const Expected<void>&)> m_done;
};

} // namespace fourfold::ui
