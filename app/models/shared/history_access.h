// SPDX-License-Identifier: GPL-3.0-or-later
// The history as the pages reach it. Everywhere an empty file name means the user's own history.
#pragma once

#include "core/history/store.h"

#include <QString>

#include <filesystem>
#include <vector>

namespace fourfold::ui {

std::filesystem::path historyFileOr(const std::filesystem::path& file);
// Newest first; none where there is no history yet.
Expected<std::vector<RunSummary>> storedRuns(const std::filesystem::path& file, int most, Runs which = Runs::stored);
Expected<RunDetail> storedRun(const std::filesystem::path& file, const QString& id);
// Runs that had not ended when their program did, newest first.
std::vector<RunSummary> runsUnderWay(const std::filesystem::path& file);
// For writing; made where there is none.
Expected<HistoryStore> writableHistory(const std::filesystem::path& file);

} // namespace fourfold::ui
