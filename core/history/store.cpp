// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/history/store.h"

#include "core/base/paths.h"
#include "core/history/clock.h"
#include "core/history/store_impl.h"

#include <SQLiteCpp/Statement.h>

#include <algorithm>

namespace fourfold {

using namespace history;

bool HistoryStore::Impl::has_run(const std::string& run) const
{
    SQLite::Statement find(database, "SELECT 1 FROM runs WHERE id = ?");
    find.bind(1, run);
    return find.executeStep();
}

void HistoryStore::Impl::insert_run(
    const NewRun& run, const std::string& state, const std::string& problem, const std::string& created)
{
    const int64_t plan = plan_row(database, run.plan_hash, run.layout_hash, run.plan);
    const int64_t prediction = add_prediction(database, plan, run.prediction);
    SQLite::Statement insert(database,
        "INSERT INTO runs (id, name, target, stack, state, problem, created, plan, prediction, planned_prediction,"
        " environment) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    insert.bind(1, run.id);
    insert.bind(2, run.name);
    insert.bind(3, run.target);
    insert.bind(4, run.stack);
    insert.bind(5, state);
    insert.bind(6, problem);
    insert.bind(7, created);
    insert.bind(8, plan);
    insert.bind(9, prediction);
    if (run.planned_prediction)
        insert.bind(10, add_prediction(database, plan, *run.planned_prediction));
    else
        insert.bind(10);
    insert.bind(11, text_of(run.environment.is_null() ? Json::object() : run.environment));
    insert.exec();
    add_hosts(database, run.id, run.hosts);
}

Expected<void> HistoryStore::Impl::append(
    const std::string& run, const std::string& stream, const std::vector<Event>& events)
{
    const bool ends = std::any_of(
        events.begin(), events.end(), [](const Event& event) { return event_kind(event.kind) == EventKind::end; });
    return guarded(file, [&]() -> Expected<void> {
        WriteTransaction transaction(database, ends ? Durability::flush : Durability::lazy);
        if (!has_run(run))
            return unknown_run(run);
        FOURFOLD_CHECK(event_rows().append(run, stream, events));
        transaction.commit();
        return {};
    });
}

HistoryStore::HistoryStore(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl))
{
}
HistoryStore::HistoryStore(HistoryStore&&) noexcept = default;
HistoryStore& HistoryStore::operator=(HistoryStore&&) noexcept = default;
HistoryStore::~HistoryStore() = default;

Expected<HistoryStore> HistoryStore::open(const std::filesystem::path& file, StoreMode mode)
{
    FOURFOLD_TRY(SQLite::Database database, open_database(file, mode));
    return HistoryStore(std::unique_ptr<Impl>(new Impl{file, std::move(database)}));
}

Expected<std::optional<HistoryStore>> HistoryStore::open_existing(const std::filesystem::path& file)
{
    std::error_code error;
    if (!std::filesystem::exists(file, error) && !error) {
        // As where the disk of the history is not mounted: not the same as no run.
        for (auto part = std::filesystem::absolute(file, error); part.has_relative_path(); part = part.parent_path()) {
            if (std::filesystem::is_symlink(part, error) && !std::filesystem::exists(part, error))
                return Problem{ProblemCode::io, "is a link that leads nowhere, so the history is not there",
                    "mend or remove it", part.string()};
        }
        return std::optional<HistoryStore>();
    }
    auto store = open(file, StoreMode::read_only);
    // An older schema is migrated by opening the file for writing; a newer one is refused again.
    if (!store && store.error().code == ProblemCode::unsupported)
        store = open(file, StoreMode::read_write);
    if (!store)
        return std::move(store).error();
    return std::optional<HistoryStore>(*std::move(store));
}

std::filesystem::path HistoryStore::default_file()
{
    return data_folder() / "history.db";
}

Expected<void> HistoryStore::create_run(const NewRun& run)
{
    if (!is_plain_id(run.id))
        return Problem{ProblemCode::bad_input, "a run's id has 1 to 64 letters, digits, '-' or '_'", "", "run id"};
    return guarded(impl_->file, [&]() -> Expected<void> {
        WriteTransaction transaction(impl_->database, Durability::flush);
        if (impl_->has_run(run.id))
            return Problem{
                ProblemCode::conflict, "run " + run.id + " is already in the history", "", impl_->file.string()};
        impl_->insert_run(run, "draft", "", now_text());
        transaction.commit();
        return {};
    });
}

Expected<void> HistoryStore::set_state(const std::string& run, RunState state, const std::string& problem)
{
    return guarded(impl_->file, [&]() -> Expected<void> {
        WriteTransaction transaction(impl_->database, Durability::flush);
        SQLite::Statement update(impl_->database,
            "UPDATE runs SET state = ?, problem = CASE WHEN ? = '' AND ? <> 'ok' THEN problem ELSE ? END WHERE id = ?");
        const std::string line = Problem{ProblemCode::failed, problem, "", ""}.line();
        const std::string word(name(state));
        update.bind(1, word);
        update.bind(2, line);
        update.bind(3, word);
        update.bind(4, line);
        update.bind(5, run);
        if (update.exec() == 0)
            return impl_->unknown_run(run);
        store_headline(impl_->database, run);
        transaction.commit();
        return {};
    });
}

namespace {

std::string place_of(const std::string& run, const std::string& stream, std::size_t line)
{
    return "run " + run + ", stream " + stream + ", new line " + std::to_string(line + 1);
}

} // namespace

Expected<void> HistoryStore::append_events(
    const std::string& run, const std::string& stream, const std::vector<std::string>& lines)
{
    std::vector<Json> documents;
    std::vector<ParsedLine> parsed;
    documents.reserve(lines.size()); // its elements keep their place
    for (std::size_t i = 0; i < lines.size(); ++i) {
        FOURFOLD_TRY(Json json, parse_json(lines[i], place_of(run, stream, i)));
        parsed.push_back({lines[i], &documents.emplace_back(std::move(json))});
    }
    return append_parsed(run, stream, parsed);
}

Expected<void> HistoryStore::append_parsed(
    const std::string& run, const std::string& stream, const std::vector<ParsedLine>& lines)
{
    std::vector<Event> events;
    events.reserve(lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
        FOURFOLD_TRY(Event event, event_of(lines[i].text, *lines[i].json, place_of(run, stream, i)));
        events.push_back(std::move(event));
    }
    return impl_->append(run, stream, events);
}

Expected<int64_t> HistoryStore::last_seq(const std::string& run, const std::string& stream) const
{
    return guarded(impl_->file, [&]() -> Expected<int64_t> {
        if (!impl_->has_run(run))
            return impl_->unknown_run(run);
        return last_seq_of(impl_->database, run, stream);
    });
}

} // namespace fourfold
