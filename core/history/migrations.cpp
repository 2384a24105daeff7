// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/history/migrations.h"

#include "core/history/database.h"
#include "core/history/rows.h"

#include <SQLiteCpp/Statement.h>

#include <unistd.h>

#include <cstdlib>

namespace fourfold::history {

namespace {

namespace fs = std::filesystem;

int schema_of(SQLite::Database& database)
{
    return database.execAndGet("PRAGMA user_version").getInt();
}

void keep_copy(SQLite::Database& database, const fs::path& file, int schema)
{
    // Under another name until it is complete, so that an interrupted copy never passes for one.
    const fs::path copy = backup_file(file, schema);
    std::string unfinished = copy.string() + ".part-XXXXXX";
    const int descriptor = ::mkstemp(unfinished.data()); // VACUUM INTO takes an empty file
    if (descriptor >= 0)
        ::close(descriptor);
    std::error_code ignored;
    try {
        SQLite::Statement statement(database, "VACUUM INTO ?");
        statement.bind(1, unfinished);
        statement.exec();
    } catch (...) {
        fs::remove(unfinished, ignored);
        throw;
    }
    fs::rename(unfinished, copy, ignored);
}

// Version 2 moved figures of the list into the run's row.
void fill_summaries(SQLite::Database& database)
{
    std::vector<std::string> ids;
    SQLite::Statement runs(database, "SELECT id FROM runs");
    while (runs.executeStep())
        ids.push_back(runs.getColumn(0).getString());
    for (const std::string& id : ids)
        refresh_summary(database, id);
}

} // namespace

std::filesystem::path backup_file(const std::filesystem::path& file, int version)
{
    return file.string() + ".schema" + std::to_string(version) + ".bak";
}

void migrate(SQLite::Database& database, const std::filesystem::path& file, int version)
{
    const int found = schema_of(database);
    if (found > 0 && found < version)
        keep_copy(database, file, found);
    for (int next = found + 1; next <= version; ++next) {
        WriteTransaction transaction(database, Durability::flush);
        // Another program may have done it while this one waited for the lock.
        if (schema_of(database) >= next)
            continue;
        database.exec(schema_steps()[static_cast<std::size_t>(next - 1)]);
        if (next == 1)
            database.exec("PRAGMA application_id = " + std::to_string(kApplicationId));
        if (next == 2)
            fill_summaries(database);
        database.exec("PRAGMA user_version = " + std::to_string(next));
        transaction.commit();
    }
}

} // namespace fourfold::history
