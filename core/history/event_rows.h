// SPDX-License-Identifier: GPL-3.0-or-later
// Storing the events of a stream. Statements are prepared once for a store, and what a batch of steps changes in the
// run's own row is written once for the batch.
#pragma once

#include "core/base/json.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace fourfold::history {

// One event of a stream. Line and json belong to the caller and outlive it.
struct Event {
    int64_t seq = 0;
    std::string kind; // its "event"
    std::string_view line;
    const Json* json = nullptr; // what `line` says
};
// Checks what the store relies on: a JSON object with a whole "seq" >= 0 and a text "event". `where` names the line.
Expected<Event> event_of(std::string_view line, const Json& json, const std::string& where);

// seq of the last stored event of a stream, -1 when there is none.
int64_t last_seq_of(const SQLite::Database& database, const std::string& run, const std::string& stream);

class EventRows {
public:
    explicit EventRows(SQLite::Database& database);

    // Appends what follows on the stream's last stored event and moves the cursor; events that are stored already are
    // skipped, a gap is a `conflict`. For the run's own stream it also stores what follows from the events: a step's
    // row, versions (`start`), losses, the state (`end`), the cause (`error`) and the headline of a run that has ended.
    // Precondition: inside a transaction, which is rolled back on a Problem. Throws SQLite::Exception.
    Expected<void> append(const std::string& run, const std::string& stream, std::span<const Event> events);

private:
    struct Summary; // what the steps of a batch change in the run's row
    void add_step(const Event& event, Summary& summary);
    void add_consequence(const std::string& run, const Event& event);

    SQLite::Database& database_;
    SQLite::Statement move_cursor_, insert_event_, insert_step_, update_run_;
    std::string line_; // bound without a copy
};

} // namespace fourfold::history
