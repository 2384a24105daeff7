// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/history/history_edits.h"

#include "app/view/history/history_access.h"
#include "app/view/text.h"
#include "core/history/annotations.h"

namespace fourfold::view {

namespace {
// A change of the store that is opened for it alone.
HistoryChange with(const std::filesystem::path& file, std::function<Expected<void>(HistoryStore&)> change)
{
    return [file, change = std::move(change)]() -> Expected<void> {
        FOURFOLD_TRY(HistoryStore store, writable_history(file));
        return change(store);
    };
}
} // namespace

HistoryStep delete_runs(const std::filesystem::path& file, const std::vector<std::string>& ids)
{
    const auto mark = [&](bool deleted) {
        return with(file, [ids, deleted](HistoryStore& store) -> Expected<void> {
            FOURFOLD_CHECK(set_deleted(store, ids, deleted));
            return {};
        });
    };
    return {"Delete " + counted(double(ids.size()), "run"), mark(true), mark(false)};
}

HistoryStep change_tags(const std::filesystem::path& file, const RunSummary& run, const std::vector<std::string>& tags)
{
    const auto set = [&](const std::vector<std::string>& to) {
        return with(file, [id = run.id, to](HistoryStore& store) { return set_tags(store, id, to); });
    };
    return {"Change tags", set(tags), set(run.tags)};
}

HistoryStep change_note(const std::filesystem::path& file, const RunSummary& run, const std::string& note)
{
    const auto set = [&](const std::string& to) {
        return with(file, [id = run.id, to](HistoryStore& store) { return set_note(store, id, to); });
    };
    return {"Change note", set(note), set(run.note)};
}

} // namespace fourfold::view
