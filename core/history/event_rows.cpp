// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/history/event_rows.h"

#include "core/history/clock.h"
#include "core/history/event_types.h"
#include "core/history/rows.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace fourfold::history {

namespace {

// A statement that is used again must be reset also where SQLite threw: a pending one would hold its transaction.
class Use {
public:
    explicit Use(SQLite::Statement& statement)
        : statement_(statement)
    {
    }
    ~Use() { (void)statement_.tryReset(); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

private:
    SQLite::Statement& statement_;
};

// The `start` event describes more than versions; all that tells one set-up from another is kept.
void add_versions(SQLite::Database& database, const std::string& run, const Json& start)
{
    Json kept = Json::object();
    for (const auto& [key, value] : start.items())
        if (key != "seq" && key != "time" && key != "rank" && key != "event" && key != "environment")
            kept[key == "versions" ? "software" : key] = value;
    SQLite::Statement update(database, "UPDATE runs SET versions = ? WHERE id = ?");
    update.bind(1, text_of(kept));
    update.bind(2, run);
    update.exec();
    if (!start.contains("versions") || !start["versions"].is_object())
        return;
    for (const auto& [component, version] : start["versions"].items()) {
        SQLite::Statement insert(database, "INSERT OR REPLACE INTO software_versions VALUES (?, ?, ?)");
        insert.bind(1, run);
        insert.bind(2, component);
        insert.bind(3, version.is_string() ? version.get<std::string>() : text_of(version));
        insert.exec();
    }
}

std::string cause_of(const Json& event)
{
    const ErrorEvent error = read_event<ErrorEvent>(event);
    const std::string& cause = error.message.empty() ? error.kind : error.message;
    std::string who;
    if (const int rank = whole(event, "rank", -1); rank >= 0)
        who = "rank " + std::to_string(rank);
    if (!error.host.empty())
        who += (who.empty() ? "" : " on ") + error.host;
    return who.empty() ? cause : who + ": " + cause;
}

void set_problem_once(SQLite::Database& database, const std::string& run, const std::string& problem)
{
    SQLite::Statement update(database, "UPDATE runs SET problem = ? WHERE id = ? AND problem = ''");
    update.bind(1, Problem{ProblemCode::failed, problem, "", ""}.line());
    update.bind(2, run);
    update.exec();
}

} // namespace

struct EventRows::Summary {
    int64_t steps = 0;
    std::optional<double> first_loss, last_loss, memory_gib;
};

Expected<Event> event_of(std::string_view line, const Json& json, const std::string& where)
{
    if (!json.is_object())
        return Problem{ProblemCode::bad_input, "an event must be a JSON object", "", where};
    const auto seq = json.find("seq");
    if (seq == json.end() || !seq->is_number_integer() || *seq < 0
        || (seq->is_number_unsigned()
            && seq->get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())))
        return Problem{ProblemCode::bad_input, "\"seq\" must be a whole number from 0", "", where};
    std::string kind = string_at(json, "event");
    if (kind.empty())
        return Problem{ProblemCode::bad_input, "\"event\" must name the kind of event", "", where};
    return Event{seq->get<int64_t>(), std::move(kind), line, &json};
}

int64_t last_seq_of(const SQLite::Database& database, const std::string& run, const std::string& stream)
{
    SQLite::Statement find(database, "SELECT last_seq FROM cursors WHERE run = ? AND stream = ?");
    find.bind(1, run);
    find.bind(2, stream);
    return find.executeStep() ? find.getColumn(0).getInt64() : -1;
}

EventRows::EventRows(SQLite::Database& database)
    : database_(database)
    , move_cursor_(database,
          "INSERT INTO cursors (run, stream, last_seq) VALUES (?, ?, ?)"
          " ON CONFLICT (run, stream) DO UPDATE SET last_seq = excluded.last_seq")
    , insert_event_(database, "INSERT INTO events (run, stream, seq, kind, line) VALUES (?, ?, ?, ?, ?)")
    , insert_step_(database,
          "INSERT INTO steps (run, seq, step, time" + step_columns(", ") + ") VALUES (?, ?, ?, ?"
              + step_columns(", ?", false) + ")")
    , update_run_(database,
          "UPDATE runs SET steps = steps + ?2, first_loss = coalesce(first_loss, ?3),"
          " last_loss = coalesce(?4, last_loss),"
          " measured_memory_gib = max(coalesce(measured_memory_gib, ?5), coalesce(?5, measured_memory_gib))"
          " WHERE id = ?1")
{
}

Expected<void> EventRows::append(const std::string& run, const std::string& stream, std::span<const Event> events)
{
    int64_t last = last_seq_of(database_, run, stream);
    const int64_t before = last;
    const bool main = stream == kMainStream;
    Summary summary;
    {
        const Use event_rows(insert_event_), step_rows(insert_step_);
        insert_event_.bindNoCopy(1, run);
        insert_event_.bindNoCopy(2, stream);
        insert_step_.bindNoCopy(1, run);
        for (const Event& event : events) {
            if (event.seq <= last)
                continue;
            if (event.seq != last + 1)
                return Problem{ProblemCode::conflict,
                    "events are missing: " + std::to_string(last + 1) + " is next, got " + std::to_string(event.seq),
                    "fetch the stream again from its last stored event", "run " + run + ", stream " + stream};
            line_ = event.line;
            insert_event_.bind(3, event.seq);
            insert_event_.bindNoCopy(4, event.kind);
            insert_event_.bindNoCopy(5, line_);
            insert_event_.exec();
            insert_event_.reset();
            if (main && event_kind(event.kind) == EventKind::step)
                add_step(event, summary);
            else if (main)
                add_consequence(run, event);
            last = event.seq;
        }
    }
    if (last == before)
        return {};
    if (summary.steps > 0) {
        const Use use(update_run_);
        update_run_.bind(1, run);
        update_run_.bind(2, summary.steps);
        bind_real(update_run_, 3, summary.first_loss);
        bind_real(update_run_, 4, summary.last_loss);
        bind_real(update_run_, 5, summary.memory_gib);
        update_run_.exec();
    }
    const Use use(move_cursor_);
    move_cursor_.bind(1, run);
    move_cursor_.bind(2, stream);
    move_cursor_.bind(3, last);
    move_cursor_.exec();
    if (main)
        store_headline(database_, run);
    return {};
}

void EventRows::add_step(const Event& event, Summary& summary)
{
    const Json& json = *event.json;
    insert_step_.bind(2, event.seq);
    insert_step_.bind(3, whole(json, "step", 0));
    insert_step_.bind(4, seconds_of(string_at(json, "time")).value_or(0));
    int column = 5;
    const StepValues values = step_values(json);
    for (const auto& [key, member] : kStepValues)
        bind_real(insert_step_, column++, values.*member);
    insert_step_.exec();
    insert_step_.reset();

    ++summary.steps;
    if (values.loss) {
        summary.first_loss = summary.first_loss ? summary.first_loss : values.loss;
        summary.last_loss = values.loss;
    }
    if (values.memory_peak_gib)
        summary.memory_gib = std::max(summary.memory_gib.value_or(*values.memory_peak_gib), *values.memory_peak_gib);
}

void EventRows::add_consequence(const std::string& run, const Event& event)
{
    const Json& json = *event.json;
    const auto update_run = [&](const char* change) {
        return SQLite::Statement(database_, std::string("UPDATE runs SET ") + change + " WHERE id = ?");
    };
    switch (event_kind(event.kind)) {
    case EventKind::start:
        add_versions(database_, run, json);
        break;
    case EventKind::eval: {
        SQLite::Statement update = update_run("eval_loss = coalesce(?, eval_loss)");
        bind_real(update, 1, read_event<EvalEvent>(json).loss);
        update.bind(2, run);
        update.exec();
        break;
    }
    case EventKind::trace: {
        SQLite::Statement update = update_run("most_off_due = 1");
        update.bind(1, run);
        update.exec();
        break;
    }
    case EventKind::error:
        set_problem_once(database_, run, cause_of(json));
        break;
    case EventKind::end: {
        const EndEvent end = read_event<EndEvent>(json);
        if (is_terminal(end.status)) {
            SQLite::Statement update = update_run("state = ?");
            update.bind(1, end.status);
            update.bind(2, run);
            update.exec();
        }
        if (end.status != name(RunState::ok) && !end.message.empty())
            set_problem_once(database_, run, end.message);
        break;
    }
    default:
        break;
    }
}

} // namespace fourfold::history
