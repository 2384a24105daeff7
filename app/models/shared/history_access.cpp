// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/shared/history_access.h"

namespace fourfold::ui {

std::filesystem::path historyFileOr(const std::filesystem::path& file)
{
    return file.empty() ? HistoryStore::default_file() : file;
}

Expected<std::vector<RunSummary>> storedRuns(const std::filesystem::path& file, int most, Runs which)
{
    FOURFOLD_TRY(const auto store, HistoryStore::open_existing(historyFileOr(file)));
    return store ? store->list(most, which) : std::vector<RunSummary>();
}

Expected<RunDetail> storedRun(const std::filesystem::path& file, const QString& id)
{
    FOURFOLD_TRY(const auto store, HistoryStore::open_existing(historyFileOr(file)));
    if (!store)
        return Problem{
            ProblemCode::not_found, "the history holds no run yet", "start one in Runs", historyFileOr(file).string()};
    return store->show(id.toStdString());
}

std::vector<RunSummary> runsUnderWay(const std::filesystem::path& file)
{
    constexpr int kNewest = 20; // an old run that never ended is nobody's any more
    Expected<std::vector<RunSummary>> list = storedRuns(file, kNewest);
    if (!list)
        return {};
    std::erase_if(
        *list, [](const RunSummary& run) { return run.state < RunState::launching || is_terminal(run.state); });
    return *std::move(list);
}

Expected<HistoryStore> writableHistory(const std::filesystem::path& file)
{
    return HistoryStore::open(historyFileOr(file));
}

} // namespace fourfold::ui
