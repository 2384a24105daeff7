// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold history tag`, `note`, `delete`, `restore` and `purge`.
#include "app/cli/history/history_view.h"
#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/history/annotations.h"

#include <algorithm>
#include <iostream>
#include <limits>

namespace fourfold::cli {

namespace {

// The history for writing with the whole ids of `ids`; empty ids are an error of the caller.
struct Writable {
    HistoryStore store;
    std::vector<std::string> ids;
};
Expected<Writable> open_for(const std::vector<std::string>& ids)
{
    FOURFOLD_CHECK(open_history_with_runs());
    FOURFOLD_TRY(HistoryStore store, HistoryStore::open(HistoryStore::default_file()));
    std::vector<std::string> whole;
    for (const std::string& id : ids) {
        FOURFOLD_TRY(std::string run, store.full_id(id));
        if (std::find(whole.begin(), whole.end(), run) == whole.end()) // "last" and its id may both be named
            whole.push_back(std::move(run));
    }
    return Writable{std::move(store), std::move(whole)};
}

int finish(const Expected<std::string>& said)
{
    if (!said)
        return fail(said.error());
    std::cout << *said;
    return kDone;
}

std::string counted_runs(std::size_t count)
{
    return std::to_string(count) + (count == 1 ? " run" : " runs");
}

Expected<std::string> mark(const std::vector<std::string>& ids, bool deleted)
{
    FOURFOLD_TRY(Writable history, open_for(ids));
    FOURFOLD_TRY(const std::size_t changed, set_deleted(history.store, history.ids, deleted));
    if (changed == 0)
        return std::string(deleted ? "deleted before" : "nothing to restore: not deleted") + "\n";
    return deleted ? counted_runs(changed) + " deleted; `fourfold history restore " + joined(history.ids, " ")
            + "` restores, `fourfold history purge` removes for good\n"
                   : counted_runs(changed) + " restored\n";
}

} // namespace

int tag_runs(
    const std::vector<std::string>& ids, const std::vector<std::string>& add, const std::vector<std::string>& remove)
{
    return finish([&]() -> Expected<std::string> {
        FOURFOLD_TRY(Writable history, open_for(ids));
        std::string out;
        for (const std::string& id : history.ids) {
            if (add.empty() && remove.empty()) {
                FOURFOLD_TRY(const RunDetail run, history.store.show(id));
                out += id + "  " + joined(run.summary.tags, ", ") + "\n";
                continue;
            }
            FOURFOLD_TRY(const std::vector<std::string> tags, change_tags(history.store, id, add, remove));
            out += id + "  " + joined(tags, ", ") + "\n";
        }
        return out;
    }());
}

int note_run(const std::string& id, const std::string& note)
{
    return finish([&]() -> Expected<std::string> {
        FOURFOLD_TRY(Writable history, open_for({id}));
        FOURFOLD_CHECK(set_note(history.store, history.ids.front(), note));
        return std::string();
    }());
}

int delete_runs(const std::vector<std::string>& ids)
{
    return finish(mark(ids, true));
}

int restore_runs(const std::vector<std::string>& ids)
{
    return finish(mark(ids, false));
}

int list_deleted(TableFormat format)
{
    return finish([&]() -> Expected<std::string> {
        FOURFOLD_TRY(const auto store, open_history());
        std::vector<RunSummary> runs;
        if (store) {
            FOURFOLD_TRY(runs, store->list(std::numeric_limits<int>::max(), Runs::deleted));
        }
        return runs_table(runs).write(format);
    }());
}

int purge_runs()
{
    return finish([&]() -> Expected<std::string> {
        FOURFOLD_TRY(Writable history, open_for({}));
        FOURFOLD_TRY(const std::vector<std::string> gone, purge(history.store));
        for (const std::string& id : gone) { // an id is plain: it cannot lead out of the folder
            std::error_code error;
            const std::filesystem::path folder = data_folder() / "runs" / id;
            if (std::filesystem::is_symlink(folder, error))
                warn("the folder of run " + id
                    + " is a link; what it leads to stays: " + std::filesystem::read_symlink(folder, error).string());
            std::filesystem::remove_all(folder, error);
            if (error)
                warn("the folder of run " + id + " stays: " + error.message());
        }
        FOURFOLD_TRY(const auto left, history.store.list(std::numeric_limits<int>::max(), Runs::deleted));
        return counted_runs(gone.size()) + " removed for good\n"
            + (left.empty() ? "" : counted_runs(left.size()) + " not: still going on (`fourfold stop` ends a run)\n");
    }());
}

} // namespace fourfold::cli
