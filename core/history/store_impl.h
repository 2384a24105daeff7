// SPDX-License-Identifier: GPL-3.0-or-later
// What stands behind a HistoryStore, for the other files of this folder.
#pragma once

#include "core/history/database.h"
#include "core/history/event_rows.h"
#include "core/history/rows.h"
#include "core/history/store.h"

namespace fourfold {

struct HistoryStore::Impl {
    std::filesystem::path file;
    mutable SQLite::Database database;

    [[nodiscard]] Problem unknown_run(const std::string& run) const
    {
        return {ProblemCode::not_found, "there is no run \"" + run + "\" in the history",
            "`fourfold history list` shows the runs", file.string()};
    }
    [[nodiscard]] bool has_run(const std::string& run) const;
    // The whole id of a run, from any unique prefix of it or "last".
    [[nodiscard]] Expected<std::string> find_id(const std::string& id) const;
    // Inserts run, plan, predictions and hosts. Precondition: inside a transaction, the id is free.
    void insert_run(
        const NewRun& run, const std::string& state, const std::string& problem, const std::string& created);
    // Prepared with the first use: what only reads may be a newer schema.
    history::EventRows& event_rows()
    {
        if (!rows)
            rows.emplace(database);
        return *rows;
    }
    // One transaction with one batch of a stream.
    Expected<void> append(const std::string& run, const std::string& stream, const std::vector<history::Event>& events);

    std::optional<history::EventRows> rows = std::nullopt;
};

} // namespace fourfold
