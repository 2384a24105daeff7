// SPDX-License-Identifier: GPL-3.0-or-later
// Changes of the history that were made here, to be taken back and done again.
#pragma once

#include "app/tui/desk.h"
#include "app/view/history/history_edits.h"

#include <functional>
#include <vector>

namespace fourfold::tui {

class HistoryChanges {
public:
    // `changed` is called after each; `desk` outlives it.
    HistoryChanges(Desk& desk, std::function<void()> changed);
    void ask_to_edit(const RunSummary& run, bool tags); // or its note
    void ask_to_hide(const std::vector<RunSummary>& runs);
    void undo();
    void redo();

private:
    void make(view::HistoryStep step);

    Desk& desk_;
    std::function<void()> changed_;
    std::vector<view::HistoryStep> done_, undone_; // the newest last
};

} // namespace fourfold::tui
