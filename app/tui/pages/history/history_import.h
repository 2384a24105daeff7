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
    // `tracked`: curves of TensorBoard or Weights & Biases are wanted, which become no runs of the history.
    HistoryImport(Desk& desk, std::function<void(const std::string& run)> imported,
        std::function<void(const std::filesystem::path&)> tracked);
    void ask(); // offers what lies in this folder and the published tables
    void take(const std::filesystem::path& path);
    void tick();
    [[nodiscard]] bool is_running() const { return work_.is_running(); }

private:
    void ask_for_file();
    void ask_for_curves();
    void tell(const view::RunImport& outcome);

    Desk& desk_;
    std::function<void(const std::string&)> imported_;
    std::function<void(const std::filesystem::path&)> tracked_;
    view::Background work_; // each row of a table is predicted
};

} // namespace fourfold::tui
