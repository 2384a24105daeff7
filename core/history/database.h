// SPDX-License-Identifier: GPL-3.0-or-later
// Opening the history's file and guarding its transactions: SQLite's exceptions end here.
#pragma once

#include "core/history/store.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>

#include <filesystem>

namespace fourfold::history {

inline constexpr int kBusyTimeoutMs = 5000;

// Opens, checks (application id, schema, damage), sets up (WAL, foreign keys) and migrates.
Expected<SQLite::Database> open_database(const std::filesystem::path& file, StoreMode mode);

// What SQLite reported, in the user's words.
Problem problem_from(const SQLite::Exception& exception, const std::filesystem::path& file);

// `flush` waits until the disk has it (creation and state of a run); `lazy` survives a killed program but may lose the
// last transactions when the power fails, which is enough for events: the node keeps them until they are fetched again.
enum class Durability { lazy, flush };

// One writing transaction; rolled back unless commit() was reached.
class WriteTransaction {
public:
    WriteTransaction(SQLite::Database& database, Durability durability);
    ~WriteTransaction();
    WriteTransaction(const WriteTransaction&) = delete;
    WriteTransaction& operator=(const WriteTransaction&) = delete;
    void commit();

private:
    SQLite::Database& database_;
    bool open_ = true;
};

// Runs `work` (which returns an Expected) and turns what SQLite throws into a Problem.
template <typename Work>
auto guarded(const std::filesystem::path& file, Work&& work) -> decltype(work())
{
    try {
        return work();
    } catch (const SQLite::Exception& exception) {
        return problem_from(exception, file);
    }
}

} // namespace fourfold::history
