// SPDX-License-Identifier: GPL-3.0-or-later
// What a person does to stored runs, each as one step that can be undone.
#pragma once

#include "core/history/store.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace fourfold::view {

// There and back; a Problem means that nothing was done.
using HistoryChange = std::function<Expected<void>()>;
struct HistoryStep {
    std::string text; // "Delete 3 runs"
    HistoryChange redo, undo;
};
// Empty file: the user's history.
HistoryStep delete_runs(const std::filesystem::path& file, const std::vector<std::string>& ids);
HistoryStep change_tags(const std::filesystem::path& file, const RunSummary& run, const std::vector<std::string>& tags);
HistoryStep change_note(const std::filesystem::path& file, const RunSummary& run, const std::string& note);

} // namespace fourfold::view
