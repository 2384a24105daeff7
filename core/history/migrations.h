// SPDX-License-Identifier: GPL-3.0-or-later
// From any released schema to this program's: one transaction a version.
#pragma once

#include <SQLiteCpp/Database.h>

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold::history {

// "FFLD", in the file's header: tells a history from any other SQLite file.
inline constexpr int kApplicationId = 0x46464c44;

// SQL of each version; element 0 makes schema 1 from an empty file.
const std::vector<std::string>& schema_steps();
inline int current_schema()
{
    return static_cast<int>(schema_steps().size());
}

// Brings `database` to schema `version` (default: the newest). Before an existing history changes, a copy is written
// beside it: "<file>.schema<N>.bak". Throws SQLite::Exception; the caller turns it into a Problem.
void migrate(SQLite::Database& database, const std::filesystem::path& file, int version = current_schema());

// Where migrate() keeps the copy of a file of schema `version`.
std::filesystem::path backup_file(const std::filesystem::path& file, int version);

} // namespace fourfold::history
