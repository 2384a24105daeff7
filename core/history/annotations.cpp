// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/history/annotations.h"

#include "core/base/text.h"
#include "core/history/clock.h"
#include "core/history/store_impl.h"

#include <SQLiteCpp/Statement.h>

#include <algorithm>

namespace fourfold {

using namespace history;

namespace {

constexpr std::size_t kLongestTag = 64, kLongestNote = std::size_t{64} << 10; // bytes

// Sets one text column of a run.
Expected<void> set_column(SQLite::Database& database, const char* query, const std::string& run,
    const std::string& text, const Problem& unknown)
{
    WriteTransaction transaction(database, Durability::flush);
    SQLite::Statement update(database, query);
    update.bind(1, text);
    update.bind(2, run);
    if (update.exec() == 0)
        return unknown;
    transaction.commit();
    return {};
}

void execute(SQLite::Database& database, const char* query, const std::string& run)
{
    SQLite::Statement statement(database, query);
    statement.bind(1, run);
    statement.exec();
}

} // namespace

Expected<void> check_tags(const std::vector<std::string>& tags)
{
    for (const std::string& tag : tags) {
        const bool plain = !tag.empty() && tag.size() <= kLongestTag && tag.front() != ' ' && tag.back() != ' '
            && tag.find(',') == std::string::npos && tag == printable(tag, kUncut);
        if (!plain)
            return Problem{ProblemCode::bad_input, in_quotes(tag) + " is no tag",
                "a tag has at most 64 bytes (letters beyond ASCII take 2 to 4), no comma, no control characters, no "
                "space at its ends",
                "tags"};
    }
    return {};
}

Expected<void> check_note(const std::string& note)
{
    if (note.size() > kLongestNote)
        return Problem{ProblemCode::bad_input, "a note has at most 64 KiB", "keep the text elsewhere", "note"};
    return {};
}

Expected<void> set_tags(HistoryStore& store, const std::string& run, const std::vector<std::string>& tags)
{
    FOURFOLD_CHECK(check_tags(tags));
    return guarded(store.impl().file, [&]() -> Expected<void> {
        return set_column(store.impl().database, "UPDATE runs SET tags = ? WHERE id = ?", run, text_of_tags(tags),
            store.impl().unknown_run(run));
    });
}

Expected<std::vector<std::string>> change_tags(HistoryStore& store, const std::string& run,
    const std::vector<std::string>& add, const std::vector<std::string>& remove)
{
    FOURFOLD_CHECK(check_tags(add));
    return guarded(store.impl().file, [&]() -> Expected<std::vector<std::string>> {
        SQLite::Database& database = store.impl().database;
        WriteTransaction transaction(database, Durability::flush); // nobody else writes from here on
        SQLite::Statement read(database, "SELECT tags FROM runs WHERE id = ?");
        read.bind(1, run);
        if (!read.executeStep())
            return store.impl().unknown_run(run);
        std::vector<std::string> tags = tags_of(read.getColumn(0).getString());
        read.reset();
        tags.insert(tags.end(), add.begin(), add.end());
        std::erase_if(
            tags, [&](const std::string& tag) { return std::find(remove.begin(), remove.end(), tag) != remove.end(); });
        const std::string text = text_of_tags(std::move(tags));
        SQLite::Statement update(database, "UPDATE runs SET tags = ? WHERE id = ?");
        update.bind(1, text);
        update.bind(2, run);
        update.exec();
        transaction.commit();
        return tags_of(text);
    });
}

Expected<void> set_note(HistoryStore& store, const std::string& run, const std::string& note)
{
    FOURFOLD_CHECK(check_note(note));
    return guarded(store.impl().file, [&]() -> Expected<void> {
        return set_column(store.impl().database, "UPDATE runs SET note = ? WHERE id = ?", run, printable_lines(note),
            store.impl().unknown_run(run));
    });
}

Expected<std::vector<std::string>> most_off_due(const HistoryStore& store)
{
    return guarded(store.impl().file, [&]() -> Expected<std::vector<std::string>> {
        SQLite::Statement due(
            store.impl().database, "SELECT id FROM runs WHERE most_off_due = 1 ORDER BY created DESC, id");
        std::vector<std::string> runs;
        while (due.executeStep())
            runs.push_back(due.getColumn(0).getString());
        return runs;
    });
}

Expected<void> set_most_off(HistoryStore& store, const std::string& run, const std::optional<MostOff>& term)
{
    return guarded(store.impl().file, [&]() -> Expected<void> {
        // A lost one is worked out again.
        WriteTransaction transaction(store.impl().database, Durability::lazy);
        SQLite::Statement update(store.impl().database,
            "UPDATE runs SET most_off = ?, most_off_predicted_s = ?, most_off_measured_s = ?, most_off_due = 0"
            " WHERE id = ?");
        update.bind(1, term ? term->term : std::string());
        bind_real(update, 2, term ? std::optional(term->predicted_s) : std::nullopt);
        bind_real(update, 3, term ? std::optional(term->measured_s) : std::nullopt);
        update.bind(4, run);
        if (update.exec() == 0)
            return store.impl().unknown_run(run);
        transaction.commit();
        return {};
    });
}

Expected<std::size_t> set_deleted(HistoryStore& store, const std::vector<std::string>& runs, bool deleted)
{
    return guarded(store.impl().file, [&]() -> Expected<std::size_t> {
        WriteTransaction transaction(store.impl().database, Durability::flush);
        const std::string now = now_text();
        std::size_t changed = 0;
        for (const std::string& run : runs) {
            // What was deleted before keeps its time.
            SQLite::Statement update(store.impl().database,
                deleted ? "UPDATE runs SET deleted = ?2 WHERE id = ?1 AND deleted IS NULL"
                        : "UPDATE runs SET deleted = NULL WHERE id = ?1 AND deleted IS NOT NULL");
            update.bind(1, run);
            if (deleted)
                update.bind(2, now);
            if (update.exec() != 0)
                ++changed;
            else if (!store.impl().has_run(run))
                return store.impl().unknown_run(run);
        }
        transaction.commit();
        return changed;
    });
}

Expected<std::vector<std::string>> purge(HistoryStore& store, const std::vector<std::string>& runs)
{
    return guarded(store.impl().file, [&]() -> Expected<std::vector<std::string>> {
        WriteTransaction transaction(store.impl().database, Durability::flush);
        std::vector<std::string> gone;
        SQLite::Statement deleted(store.impl().database,
            "SELECT id FROM runs WHERE deleted IS NOT NULL AND state NOT IN ('launching', 'running', 'stopping') ORDER "
            "BY id");
        while (deleted.executeStep()) {
            const std::string id = deleted.getColumn(0).getString();
            if (runs.empty() || std::find(runs.begin(), runs.end(), id) != runs.end())
                gone.push_back(id);
        }
        deleted.reset();
        for (const std::string& run : gone) {
            for (const char* query : {"DELETE FROM events WHERE run = ?", "DELETE FROM steps WHERE run = ?",
                     "DELETE FROM cursors WHERE run = ?", "DELETE FROM run_hosts WHERE run = ?",
                     "DELETE FROM software_versions WHERE run = ?", "DELETE FROM runs WHERE id = ?"})
                execute(store.impl().database, query, run);
        }
        // What only they referred to.
        store.impl().database.exec("DELETE FROM predictions WHERE id NOT IN (SELECT prediction FROM runs UNION"
                                   " SELECT planned_prediction FROM runs WHERE planned_prediction IS NOT NULL)");
        store.impl().database.exec("DELETE FROM plans WHERE id NOT IN (SELECT plan FROM runs UNION"
                                   " SELECT plan FROM predictions)");
        store.impl().database.exec("DELETE FROM hosts WHERE id NOT IN (SELECT host FROM run_hosts)");
        transaction.commit();
        // Their folders are removed by these names. None that this program writes leads out of the folder of runs.
        std::erase_if(gone, [](const std::string& id) { return !is_plain_id(id); });
        return gone;
    });
}

} // namespace fourfold
