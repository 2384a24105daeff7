// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/history/store.h"

#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/history/clock.h"
#include "core/history/store_impl.h"
#include "core/history/summaries.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <algorithm>

namespace fourfold {

using namespace history;

bool HistoryStore::Impl::has_run(const std::string& run) const
{
    SQLite::Statement find(database, "SELECT 1 FROM runs WHERE id = ?");
    find.bind(1, run);
    return find.executeStep();
}

namespace {
// With the release that its plan names.
std::string written_stack(const NewRun& run)
{
    static const Json::json_pointer kId("/stack/id"), kRelease("/stack/release");
    const bool plans_own = run.plan.contains(kId) && run.plan.at(kId) == run.stack;
    const Json release = plans_own && run.plan.contains(kRelease) ? run.plan.at(kRelease) : Json("");
    return release.is_string() && release != "" ? run.stack + "@" + release.get<std::string>() : run.stack;
}
} // namespace

void HistoryStore::Impl::insert_run(
    const NewRun& run, const std::string& state, const std::string& problem, const std::string& created)
{
    const int64_t plan = plan_row(database, run.plan_hash, run.layout_hash, run.plan);
    const int64_t prediction = add_prediction(database, plan, run.prediction);
    SQLite::Statement insert(database,
        "INSERT INTO runs (id, name, target, stack, state, problem, created, plan, prediction, planned_prediction,"
        " environment, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    insert.bind(1, run.id);
    insert.bind(2, run.name);
    insert.bind(3, run.target);
    insert.bind(4, written_stack(run));
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
    insert.bind(12, printable_lines(run.note));
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

Expected<std::string> HistoryStore::Impl::find_id(const std::string& id) const
{
    if (id == "last") {
        SQLite::Statement newest(
            database, "SELECT id FROM runs WHERE deleted IS NULL ORDER BY created DESC, rowid DESC LIMIT 1");
        if (newest.executeStep())
            return newest.getColumn(0).getString();
        return Problem{
            ProblemCode::not_found, "the history holds no run", "start one with `fourfold run`", file.string()};
    }
    SQLite::Statement find(database,
        "SELECT id FROM runs WHERE substr(id, 1, length(?1)) = ?1 COLLATE NOCASE ORDER BY id <> ?1, id LIMIT 4");
    find.bind(1, id);
    std::vector<std::string> found;
    while (find.executeStep())
        found.push_back(find.getColumn(0).getString());
    if (id.empty() || found.empty())
        return Problem{ProblemCode::not_found, "there is no run \"" + id + "\" in the history",
            "`fourfold history list` shows the runs; any unique beginning of an id will do", file.string()};
    if (found.size() == 1 || found[0] == id)
        return found[0];
    std::string matches = found[0];
    for (std::size_t i = 1; i < found.size() && i < 3; ++i)
        matches += ", " + found[i];
    return Problem{ProblemCode::bad_input, "\"" + id + "\" begins more than one run's id",
        "write more of it: " + matches + (found.size() > 3 ? ", ..." : ""), file.string()};
}

HistoryStore::HistoryStore(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl))
{
}
HistoryStore::HistoryStore(HistoryStore&&) noexcept = default;
HistoryStore& HistoryStore::operator=(HistoryStore&&) noexcept = default;
HistoryStore::~HistoryStore() = default;

HistoryStore::Impl& HistoryStore::impl() const
{
    return *impl_;
}

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

Expected<std::vector<RunSummary>> HistoryStore::list(int limit, Runs which) const
{
    return guarded(impl_->file, [&]() -> Expected<std::vector<RunSummary>> {
        SQLite::Transaction one_view(impl_->database);
        SQLite::Statement rows(impl_->database,
            summaries_where(which == Runs::stored ? "r.deleted IS NULL" : "r.deleted IS NOT NULL")
                + " ORDER BY r.created DESC, r.rowid DESC LIMIT ?");
        rows.bind(1, limit);
        std::vector<RunSummary> runs;
        while (rows.executeStep())
            runs.push_back(summary_row(rows, impl_->database));
        return runs;
    });
}

Expected<std::string> HistoryStore::full_id(const std::string& id_or_prefix) const
{
    return guarded(impl_->file, [&] { return impl_->find_id(id_or_prefix); });
}

Expected<RunDetail> HistoryStore::show(const std::string& id) const
{
    return guarded(impl_->file, [&]() -> Expected<RunDetail> {
        SQLite::Transaction one_view(impl_->database);
        FOURFOLD_TRY(const std::string run, impl_->find_id(id));
        RunDetail detail;
        SQLite::Statement rows(impl_->database, summaries_where("r.id = ?"));
        rows.bind(1, run);
        if (!rows.executeStep())
            return impl_->unknown_run(run);
        SummaryRow row = summary_row(rows, impl_->database);
        detail.tps_spread = row.spread;
        detail.headline_rule = std::move(row.rule);
        detail.summary = std::move(row);

        SQLite::Statement documents(impl_->database,
            "SELECT p.document, q.document, s.document, r.environment, r.versions FROM runs r"
            " JOIN plans p ON p.id = r.plan JOIN predictions q ON q.id = r.prediction"
            " LEFT JOIN predictions s ON s.id = r.planned_prediction WHERE r.id = ?");
        documents.bind(1, run);
        if (!documents.executeStep())
            return impl_->unknown_run(run);
        const auto document
            = [&](int column) { return Json::parse(documents.getColumn(column).getString(), nullptr, false); };
        detail.plan = document(0);
        detail.prediction = document(1);
        if (!documents.getColumn(2).isNull())
            detail.planned_prediction = document(2);
        detail.environment = document(3);
        detail.versions = document(4);

        SQLite::Statement hosts(impl_->database,
            "SELECT h.name FROM run_hosts r JOIN hosts h ON h.id = r.host WHERE r.run = ? ORDER BY r.position");
        hosts.bind(1, run);
        while (hosts.executeStep())
            detail.hosts.push_back(hosts.getColumn(0).getString());
        detail.steps = steps_of(impl_->database, run);
        const Json last = last_step_of(impl_->database, run);
        detail.allocated_gib = number_at(last, "memory_allocated_gib");
        detail.reserved_gib = number_at(last, "memory_reserved_gib");
        detail.other_events = other_events_of(impl_->database, run);
        return detail;
    });
}

Expected<std::vector<std::string>> HistoryStore::events(const std::string& run, const std::string& stream) const
{
    return guarded(impl_->file, [&]() -> Expected<std::vector<std::string>> {
        if (!impl_->has_run(run))
            return impl_->unknown_run(run);
        SQLite::Statement rows(impl_->database, "SELECT line FROM events WHERE run = ? AND stream = ? ORDER BY seq");
        rows.bind(1, run);
        rows.bind(2, stream);
        std::vector<std::string> lines;
        while (rows.executeStep())
            lines.push_back(rows.getColumn(0).getString());
        return lines;
    });
}

bool RunDetail::ran_on_cpus() const
{
    static const Json::json_pointer kBackend("/software/backend");
    return versions.contains(kBackend) && versions.at(kBackend) == "gloo";
}

Expected<std::vector<HistoryStore::MeasuredPlan>> HistoryStore::measured_plans(
    const std::string& stack, const std::string& model, int limit) const
{
    return guarded(impl_->file, [&]() -> Expected<std::vector<MeasuredPlan>> {
        SQLite::Statement rows(impl_->database,
            "SELECT p.id, avg(r.measured_tps_per_gpu), coalesce(v.version = 'gloo', 0) AS on_cpus"
            " FROM plans p JOIN runs r ON r.plan = p.id"
            " LEFT JOIN software_versions v ON v.run = r.id AND v.component = 'backend'"
            " WHERE p.model = ?1 AND (r.stack = ?2 OR substr(r.stack, 1, length(?2) + 1) = ?2 || '@')"
            " AND r.state <> 'oom' AND r.deleted IS NULL AND r.measured_tps_per_gpu IS NOT NULL"
            // A first step warms up: of a run that ended behind it nothing is known. A row of a table is no step.
            " AND (r.steps > 1 OR r.target = 'imported')"
            " GROUP BY p.id, on_cpus ORDER BY max(r.rowid) DESC LIMIT ?3");
        rows.bind(1, model);
        rows.bind(2, stack);
        rows.bind(3, limit);
        std::vector<MeasuredPlan> plans;
        while (rows.executeStep())
            plans.push_back(
                {rows.getColumn(0).getInt64(), rows.getColumn(1).getDouble(), rows.getColumn(2).getInt() != 0});
        return plans;
    });
}

Expected<Json> HistoryStore::plan(int64_t id) const
{
    return guarded(impl_->file, [&]() -> Expected<Json> {
        SQLite::Statement rows(impl_->database, "SELECT document FROM plans WHERE id = ?");
        rows.bind(1, id);
        if (!rows.executeStep())
            return Problem{
                ProblemCode::not_found, "the history holds no plan " + std::to_string(id), "", impl_->file.string()};
        return Json::parse(rows.getColumn(0).getString(), nullptr, false);
    });
}

} // namespace fourfold
