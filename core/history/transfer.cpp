// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/history/transfer.h"

#include "core/history/annotations.h"
#include "core/history/clock.h"
#include "core/history/store_impl.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

namespace fourfold {

using namespace history;

namespace {

Problem wrong(const std::string& field, const std::string& expected)
{
    return {ProblemCode::bad_input, "expected " + expected, "export the run again",
        field.empty() ? "run document" : "run document: " + field};
}

Expected<std::string> text_field(const Json& run, const char* key, bool needed)
{
    const auto found = run.find(key);
    if (found == run.end())
        return needed ? Expected<std::string>(wrong(key, "a text, found nothing"))
                      : Expected<std::string>(std::string());
    if (!found->is_string())
        return wrong(key, "a text");
    return found->get<std::string>();
}

Expected<Json> object_field(const Json& run, const char* key)
{
    const auto found = run.find(key);
    if (found == run.end() || !found->is_object())
        return wrong(key, "an object");
    return *found;
}

struct ImportedStream {
    std::string name;
    std::vector<std::string> lines;
    std::vector<Event> events; // of `lines` and of the document
};

struct ImportedRun {
    NewRun run;
    std::string state, problem, created, note;
    std::vector<std::string> tags;
    std::vector<ImportedStream> streams;
};

Expected<ImportedStream> read_stream(const std::string& name, const Json& list)
{
    if (!list.is_array())
        return wrong("events." + name, "a list of events");
    ImportedStream stream;
    stream.name = name;
    stream.lines.reserve(list.size()); // the events refer to them
    for (const Json& json : list) {
        const std::string where = "run document: events." + name + "[" + std::to_string(stream.events.size()) + "]";
        FOURFOLD_TRY(Event event, event_of(stream.lines.emplace_back(text_of(json)), json, where));
        if (event.seq != static_cast<int64_t>(stream.events.size()))
            return Problem{
                ProblemCode::bad_input, "\"seq\" must count from 0 without a gap", "export the run again", where};
        stream.events.push_back(std::move(event));
    }
    return stream;
}

// The result refers to `json`.
Expected<ImportedRun> read_run(const Json& json)
{
    if (!json.is_object())
        return wrong("", "an object made by `fourfold history export`");
    const auto version = json.find("fourfold_run");
    if (version == json.end() || !version->is_number_integer())
        return wrong("fourfold_run", "the number 1 (is this an exported run?)");
    if (*version != 1)
        return Problem{ProblemCode::unsupported,
            "this export has version " + version->dump() + ", this program reads 1", "update Fourfold",
            "run document: fourfold_run"};
    ImportedRun result;
    NewRun& run = result.run;
    FOURFOLD_TRY(run.id, text_field(json, "id", true));
    FOURFOLD_TRY(run.name, text_field(json, "name", false));
    FOURFOLD_TRY(run.target, text_field(json, "target", false));
    FOURFOLD_TRY(run.stack, text_field(json, "stack", true));
    FOURFOLD_TRY(run.plan_hash, text_field(json, "plan_hash", true));
    FOURFOLD_TRY(run.layout_hash, text_field(json, "layout_hash", true));
    FOURFOLD_TRY(run.plan, object_field(json, "plan"));
    FOURFOLD_TRY(run.prediction, object_field(json, "prediction"));
    FOURFOLD_TRY(run.environment, object_field(json, "environment"));
    FOURFOLD_TRY(result.state, text_field(json, "state", true));
    FOURFOLD_TRY(result.problem, text_field(json, "problem", false));
    FOURFOLD_TRY(result.created, text_field(json, "created", true));
    if (!is_plain_id(run.id))
        return wrong("id", "1 to 64 letters, digits, '-' or '_'");
    if (!is_run_state(result.state))
        return wrong("state", "a state of a run, found \"" + result.state + "\"");
    // Nobody follows it here, and where it runs is not known: it would never end.
    if (!is_terminal(result.state)) {
        if (result.problem.empty())
            result.problem = "exported while it went on: what became of it is known where it was launched";
        result.state = name(RunState::lost);
    }
    if (!seconds_of(result.created))
        return wrong("created", "a time such as 2026-01-01T00:00:00.000Z");
    if (json.contains("planned_prediction")) {
        FOURFOLD_TRY(run.planned_prediction, object_field(json, "planned_prediction"));
    }
    if (!json.contains("hosts") || !json["hosts"].is_array())
        return wrong("hosts", "a list of names");
    for (const Json& host : json["hosts"]) {
        if (!host.is_string())
            return wrong("hosts", "a list of names");
        run.hosts.push_back(host.get<std::string>());
    }
    FOURFOLD_TRY(result.note, text_field(json, "note", false));
    FOURFOLD_CHECK(check_note(result.note));
    if (json.contains("tags")) {
        result.tags = tags_of(text_of(json["tags"]));
        FOURFOLD_CHECK(check_tags(result.tags));
    }
    const auto events = json.find("events"); // not copied: what is read refers to it
    if (events == json.end() || !events->is_object())
        return wrong("events", "an object");
    for (const auto& [stream, list] : events->items()) {
        FOURFOLD_TRY(auto stream_events, read_stream(stream, list));
        result.streams.push_back(std::move(stream_events));
    }
    return result;
}

} // namespace

Expected<Json> export_run(const HistoryStore& store, const std::string& id)
{
    FOURFOLD_TRY(const std::string run, store.full_id(id));
    return guarded(store.impl().file, [&]() -> Expected<Json> {
        SQLite::Transaction one_view(store.impl().database);
        SQLite::Statement row(store.impl().database,
            "SELECT r.name, r.target, r.stack, r.state, r.problem, r.created, p.hash, p.layout_hash, p.document,"
            " q.document, s.document, r.environment, r.versions, r.tags, r.note FROM runs r JOIN plans p ON p.id = "
            "r.plan"
            " JOIN predictions q ON q.id = r.prediction LEFT JOIN predictions s ON s.id = r.planned_prediction"
            " WHERE r.id = ?");
        row.bind(1, run);
        if (!row.executeStep())
            return store.impl().unknown_run(run);
        const auto document
            = [&](int column) { return Json::parse(row.getColumn(column).getString(), nullptr, false); };
        Json result = {{"fourfold_run", 1}, {"id", run}};
        int column = 0;
        for (const char* key : {"name", "target", "stack", "state", "problem", "created", "plan_hash", "layout_hash"})
            result[key] = row.getColumn(column++).getString();
        result["plan"] = document(8);
        result["prediction"] = document(9);
        if (!row.getColumn(10).isNull())
            result["planned_prediction"] = document(10);
        result["hosts"] = Json::array();
        SQLite::Statement hosts(store.impl().database,
            "SELECT h.name FROM run_hosts r JOIN hosts h ON h.id = r.host WHERE r.run = ? ORDER BY r.position");
        hosts.bind(1, run);
        while (hosts.executeStep())
            result["hosts"].push_back(hosts.getColumn(0).getString());
        result["environment"] = document(11);
        result["versions"] = document(12);
        if (const Json tags = document(13); !tags.empty())
            result["tags"] = tags;
        if (const std::string note = row.getColumn(14).getString(); !note.empty())
            result["note"] = note;
        result["events"] = Json::object();
        SQLite::Statement events(
            store.impl().database, "SELECT stream, line FROM events WHERE run = ? ORDER BY stream, seq");
        events.bind(1, run);
        while (events.executeStep())
            result["events"][events.getColumn(0).getString()].push_back(
                Json::parse(events.getColumn(1).getString(), nullptr, false));
        return result;
    });
}

Expected<std::string> import_run(HistoryStore& store, const Json& run)
{
    FOURFOLD_TRY(const ImportedRun imported, read_run(run));
    return guarded(store.impl().file, [&]() -> Expected<std::string> {
        WriteTransaction transaction(store.impl().database, Durability::flush);
        const std::string& id = imported.run.id;
        if (store.impl().has_run(id))
            return Problem{
                ProblemCode::conflict, "run " + id + " is already in the history", "", store.impl().file.string()};
        store.impl().insert_run(imported.run, imported.state, imported.problem, imported.created);
        for (const ImportedStream& stream : imported.streams)
            FOURFOLD_CHECK(store.impl().event_rows().append(id, stream.name, stream.events));
        // The document's own word on state and problem stands: they may say more than the events do.
        SQLite::Statement update(
            store.impl().database, "UPDATE runs SET state = ?, problem = ?, tags = ?, note = ? WHERE id = ?");
        update.bind(1, imported.state);
        update.bind(2, Problem{ProblemCode::failed, imported.problem, "", ""}.line());
        update.bind(3, text_of_tags(imported.tags));
        update.bind(4, imported.note);
        update.bind(5, id);
        update.exec();
        store_headline(store.impl().database, id);
        transaction.commit();
        return id;
    });
}

} // namespace fourfold
