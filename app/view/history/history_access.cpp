// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/history/history_access.h"

namespace fourfold::view {

std::filesystem::path history_file_or(const std::filesystem::path& file)
{
    return file.empty() ? HistoryStore::default_file() : file;
}

Expected<std::vector<RunSummary>> stored_runs(const std::filesystem::path& file, int most, Runs which)
{
    FOURFOLD_TRY(const auto store, HistoryStore::open_existing(history_file_or(file)));
    return store ? store->list(most, which) : std::vector<RunSummary>();
}

Expected<RunDetail> stored_run(const std::filesystem::path& file, const std::string& id)
{
    FOURFOLD_TRY(const auto store, HistoryStore::open_existing(history_file_or(file)));
    if (!store)
        return Problem{ProblemCode::not_found, "the history holds no run yet", "start one in Runs",
            history_file_or(file).string()};
    return store->show(id);
}

std::vector<RunSummary> runs_under_way(const std::filesystem::path& file)
{
    constexpr int kNewest = 20; // an old run that never ended is nobody's any more
    Expected<std::vector<RunSummary>> list = stored_runs(file, kNewest);
    if (!list)
        return {};
    std::erase_if(
        *list, [](const RunSummary& run) { return run.state < RunState::launching || is_terminal(run.state); });
    return *std::move(list);
}

Expected<HistoryStore> writable_history(const std::filesystem::path& file)
{
    return HistoryStore::open(history_file_or(file));
}

} // namespace fourfold::view
