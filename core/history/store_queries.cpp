// SPDX-License-Identifier: GPL-3.0-or-later
// Reading the history: lists, single runs, event lines.
#include "core/base/text.h"
#include "core/history/store_impl.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <type_traits>
#include <variant>

namespace fourfold {

using namespace history;

namespace {

std::optional<double> real(const SQLite::Column& column)
{
    return column.isNull() ? std::nullopt : std::optional(column.getDouble());
}

// Text that was stored before it was cleaned on its way in may hold anything.
std::string shown_text(const SQLite::Column& column)
{
    return printable(column.getString(), kUncut);
}

struct SummaryRow : RunSummary {
    std::string shown_tags, most_off_term; // as stored
    double most_off_predicted_s = 0, most_off_measured_s = 0;
    std::optional<double> spread;
    std::string rule;
};

// Where a column of a run's summary goes; texts that people or other programs wrote are cleaned.
struct Shown {
    std::string SummaryRow::*member;
};
struct SummaryColumn {
    const char* sql;
    std::variant<std::string SummaryRow::*, Shown, RunState SummaryRow::*, int SummaryRow::*, bool SummaryRow::*,
        double SummaryRow::*, std::optional<double> SummaryRow::*>
        member;
};

const std::vector<SummaryColumn>& summary_columns()
{
    static const std::vector<SummaryColumn> kColumns{
        {"r.id", &SummaryRow::id},
        {"r.name", Shown{&SummaryRow::name}},
        {"r.target", Shown{&SummaryRow::target}},
        {"r.stack", Shown{&SummaryRow::stack}},
        {"r.state", &SummaryRow::state},
        {"r.created", &SummaryRow::created},
        {"p.model", Shown{&SummaryRow::model}},
        {"p.cluster", Shown{&SummaryRow::cluster}},
        {"p.layout", &SummaryRow::layout},
        {"p.gpus", &SummaryRow::gpus},
        {"r.steps", &SummaryRow::steps},
        {"q.tps_per_gpu", &SummaryRow::predicted_tps_per_gpu},
        {"q.step_time_s", &SummaryRow::predicted_step_time_s},
        {"q.memory_gib", &SummaryRow::predicted_memory_gib},
        {"r.measured_tps_per_gpu", &SummaryRow::measured_tps_per_gpu},
        {"r.measured_step_time_s", &SummaryRow::measured_step_time_s},
        {"r.measured_memory_gib", &SummaryRow::measured_memory_gib},
        {"r.first_loss", &SummaryRow::first_loss},
        {"r.last_loss", &SummaryRow::last_loss},
        {"r.eval_loss", &SummaryRow::eval_loss},
        {"r.problem", Shown{&SummaryRow::problem}},
        {"r.tps_spread", &SummaryRow::spread},
        {"r.headline_rule", &SummaryRow::rule},
        {"r.tags", &SummaryRow::shown_tags},
        {"r.note", &SummaryRow::note},
        {"r.most_off", &SummaryRow::most_off_term},
        {"r.most_off_predicted_s", &SummaryRow::most_off_predicted_s},
        {"r.most_off_measured_s", &SummaryRow::most_off_measured_s},
        {"r.most_off_due", &SummaryRow::most_off_due},
    };
    return kColumns;
}

// The query of summaries, up to its condition.
std::string summaries_where(const std::string& condition)
{
    std::string out = "SELECT ";
    for (const SummaryColumn& column : summary_columns())
        out += (&column == summary_columns().data() ? "" : ", ") + std::string(column.sql);
    return out + " FROM runs r JOIN plans p ON p.id = r.plan JOIN predictions q ON q.id = r.prediction WHERE "
        + condition;
}

SummaryRow summary_row(SQLite::Statement& statement, SQLite::Database& database)
{
    SummaryRow run;
    int index = 0;
    for (const SummaryColumn& column : summary_columns()) {
        const SQLite::Column value = statement.getColumn(index++);
        std::visit(
            [&](auto member) {
                if constexpr (std::is_same_v<decltype(member), Shown>)
                    run.*member.member = shown_text(value);
                else if constexpr (std::is_same_v<decltype(member), std::optional<double> SummaryRow::*>)
                    run.*member = real(value);
                else if constexpr (std::is_same_v<decltype(member), RunState SummaryRow::*>)
                    run.*member = run_state(value.getString());
                else if constexpr (std::is_same_v<decltype(member), std::string SummaryRow::*>)
                    run.*member = value.getString();
                else if constexpr (std::is_same_v<decltype(member), double SummaryRow::*>)
                    run.*member = value.getDouble();
                else
                    run.*member = value.getInt();
            },
            column.member);
    }
    run.tags = tags_of(run.shown_tags);
    run.note = printable_lines(run.note);
    if (!run.most_off_term.empty())
        run.most_off = MostOff{run.most_off_term, run.most_off_predicted_s, run.most_off_measured_s};
    if (!is_terminal(run.state)) {
        const Headline now = headline_of(database, run.id);
        run.measured_tps_per_gpu = now.tps_per_gpu;
        run.measured_step_time_s = now.step_time_s;
        run.spread = now.spread;
        run.rule = now.rule;
    }
    if (run.predicted_tps_per_gpu && run.measured_tps_per_gpu && *run.measured_tps_per_gpu > 0)
        run.tps_error = *run.predicted_tps_per_gpu / *run.measured_tps_per_gpu - 1;
    return run;
}

std::vector<StepRow> steps_of(SQLite::Database& database, const std::string& run)
{
    std::vector<StepRow> rows;
    SQLite::Statement steps(
        database, "SELECT step, time" + step_columns(", ") + " FROM steps WHERE run = ? ORDER BY seq");
    steps.bind(1, run);
    double first = 0;
    while (steps.executeStep()) {
        StepRow& row = rows.emplace_back();
        row.step = steps.getColumn(0).getInt();
        const double time = steps.getColumn(1).getDouble();
        if (rows.size() == 1)
            first = time;
        row.time_s = time - first;
        int column = 2;
        for (const auto& [key, member] : kStepValues)
            row.*member = real(steps.getColumn(column++));
    }
    return rows;
}

std::vector<Json> other_events_of(SQLite::Database& database, const std::string& run)
{
    std::vector<Json> events;
    SQLite::Statement rows(
        database, "SELECT line FROM events WHERE run = ? AND stream = ? AND kind <> 'step' ORDER BY seq");
    rows.bind(1, run);
    rows.bind(2, std::string(kMainStream));
    while (rows.executeStep())
        events.push_back(Json::parse(rows.getColumn(0).getString(), nullptr, false));
    return events;
}

Expected<std::string> find_id(SQLite::Database& database, const std::string& id, const std::filesystem::path& file)
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

} // namespace

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
    return guarded(impl_->file, [&] { return find_id(impl_->database, id_or_prefix, impl_->file); });
}

Expected<RunDetail> HistoryStore::show(const std::string& id) const
{
    return guarded(impl_->file, [&]() -> Expected<RunDetail> {
        SQLite::Transaction one_view(impl_->database);
        FOURFOLD_TRY(const std::string run, find_id(impl_->database, id, impl_->file));
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
            " WHERE p.model = ? AND r.stack = ?"
            " AND r.state <> 'oom' AND r.deleted IS NULL AND r.measured_tps_per_gpu IS NOT NULL"
            " GROUP BY p.id, on_cpus ORDER BY max(r.rowid) DESC LIMIT ?");
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
