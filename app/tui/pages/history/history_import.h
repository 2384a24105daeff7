// SPDX-License-Identifier: GPL-3.0-or-later
// Exported runs, folders of runs and measured tables become runs of the history: which, and what came of it.
#pragma once

#include "app/tui/desk.h"
#include "app/view/background.h"
#include "app/view/history/run_import.h"

namespace fourfold::tui {

class HistoryImport {
public:
    // `imported`: there are new runs; the id of the one that it was, empty where there were several.
    HistoryImport(Desk& desk, std::function<void(const std::string& run)> imported);
    void ask(); // offers what lies in this folder and the published tables
    void tick();
    [[nodiscard]] bool is_running() const { return work_.is_running(); }

private:
    void ask_for_file();
    void take(const std::filesystem::path& path);
    void tell(const view::RunImport& outcome);

    Desk& desk_;
    std::function<void(const std::string&)> imported_;
    view::Background work_; // each row of a table is predicted
};

} // namespace fourfold::tui
