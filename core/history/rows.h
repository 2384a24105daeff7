// SPDX-License-Identifier: GPL-3.0-or-later
// Reading and writing single tables. Everything here runs inside the caller's transaction and throws SQLite::Exception.
#pragma once

#include "core/history/headline.h"
#include "core/history/run_event.h"
#include "core/history/run_state.h"
#include "core/history/store.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fourfold::history {

// Ids name folders and reach the command line, so they are as plain as a ULID.
bool is_plain_id(const std::string& id);

// Compact text of a document; bytes that are not UTF-8 are replaced.
std::string text_of(const Json& json);
// The whole part of a number from 0 to 1e9 at `key`.
int whole(const Json& object, const char* key, int fallback);
void bind_real(SQLite::Statement& statement, int index, const std::optional<double>& value);
std::optional<double> real_of(const SQLite::Column& column); // nothing of NULL

// Columns of the table `steps` that kStepValues names: `before` each, with its name or alone.
std::string step_columns(const std::string& before, bool with_names = true);

// Whether every table and column that this program reads is there (a newer schema may have kept them).
bool readable(SQLite::Database& database) noexcept;

// Tags as they are stored (a JSON list) and as a list; what is no list of texts has none.
std::string text_of_tags(std::vector<std::string> tags); // sorted, each once
std::vector<std::string> tags_of(const std::string& text);

// Row of the plan with this hash and document, made if needed.
int64_t plan_row(SQLite::Database& database, const std::string& hash, const std::string& layout_hash, const Json& plan);
int64_t add_prediction(SQLite::Database& database, int64_t plan, const Json& prediction);
void add_hosts(SQLite::Database& database, const std::string& run, const std::vector<std::string>& hosts);

// The stream that describes the run itself; others belong to further nodes.
inline constexpr const char* kMainStream = "events";

// `run.read_at` of the run's plan.
std::optional<int> read_at_of(SQLite::Database& database, const std::string& run);
std::vector<StepRow> steps_of(SQLite::Database& database, const std::string& run);
// Its event, which has what no column has; null where there is none.
Json last_step_of(SQLite::Database& database, const std::string& run);
// Of the run's own stream.
std::vector<Json> other_events_of(SQLite::Database& database, const std::string& run);
// From the steps that are there now.
Headline headline_of(SQLite::Database& database, const std::string& run);
// Writes the headline into the run's row when the run has ended.
void store_headline(SQLite::Database& database, const std::string& run);
// Every derived column of the run's row, from its events and steps.
void refresh_summary(SQLite::Database& database, const std::string& run);

} // namespace fourfold::history
