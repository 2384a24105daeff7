// SPDX-License-Identifier: GPL-3.0-or-later
// The history as pages reach it. Everywhere an empty file name means the user's own history.
#pragma once

#include "core/history/store.h"

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold::view {

std::filesystem::path history_file_or(const std::filesystem::path& file);
// Newest first; none where there is no history yet.
Expected<std::vector<RunSummary>> stored_runs(
    const std::filesystem::path& file, int most = 10'000, Runs which = Runs::stored);
Expected<RunDetail> stored_run(const std::filesystem::path& file, const std::string& id);
// Runs that had not ended when their program did, newest first.
std::vector<RunSummary> runs_under_way(const std::filesystem::path& file);
// For writing; made where there is none.
Expected<HistoryStore> writable_history(const std::filesystem::path& file);

} // namespace fourfold::view
