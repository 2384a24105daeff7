// SPDX-License-Identifier: GPL-3.0-or-later
// Reading the history: lists, single runs, event lines.
#include "core/base/text.h"
#include "core/history/store_impl.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

namespace fourfold {

using namespace history;

namespace {

std::optional<double> real(const SQLite::Column& column)
{
    return column.isNull() ? std::nullopt : std::optional(column.getDouble());
}

constexpr const char* kSummaryColumns
    = "SELECT r.id, r.name, r.target, r.stack, r.state, r.created, p.model, p.cluster, p.layout, p.gpus, r.steps,"
      " q.tps_per_gpu, q.step_time_s, q.memory_gib, r.measured_tps_per_gpu, r.measured_step_time_s,"
      " r.measured_memory_gib, r.first_loss, r.last_loss, r.eval_loss, r.problem, r.tps_spread, r.headline_rule, "
      "r.tags, r.note, r.most_off, r.most_off_predicted_s, r.most_off_measured_s, r.most_off_due"
      " FROM runs r JOIN plans p ON p.id = r.plan JOIN predictions q ON q.id = r.prediction ";

// Text that was stored before it was cleaned on its way in may hold anything.
std::string shown_text(const SQLite::Column& column)
{
    return printable(column.getString(), kUncut);
}

struct SummaryRow {
    RunSummary summary;
    std::optional<double> spread;
    std::string rule;
};

SummaryRow summary_row(SQLite::Statement& row, SQLite::Database& database)
{
    SummaryRow result;
    RunSummary& run = result.summary;
    run.id = row.getColumn(0).getString();
    run.name = shown_text(row.getColumn(1));
    run.target = shown_text(row.getColumn(2));
    run.stack = shown_text(row.getColumn(3));
    run.state = row.getColumn(4).getString();
    run.created = row.getColumn(5).getString();
    run.model = shown_text(row.getColumn(6));
    run.cluster = shown_text(row.getColumn(7));
    run.layout = row.getColumn(8).getString();
    run.gpus = row.getColumn(9).getInt();
    run.steps = row.getColumn(10).getInt();
    run.predicted_tps_per_gpu = real(row.getColumn(11));
    run.predicted_step_time_s = real(row.getColumn(12));
    run.predicted_memory_gib = real(row.getColumn(13));
    run.measured_tps_per_gpu = real(row.getColumn(14));
    run.measured_step_time_s = real(row.getColumn(15));
    run.measured_memory_gib = real(row.getColumn(16));
    run.first_loss = real(row.getColumn(17));
    run.last_loss = real(row.getColumn(18));
    run.eval_loss = real(row.getColumn(19));
    run.problem = shown_text(row.getColumn(20));
    result.spread = real(row.getColumn(21));
    result.rule = row.getColumn(22).getString();
    run.tags = tags_of(row.getColumn(23).getString());
    run.note = printable_lines(row.getColumn(24).getString());
    if (const std::string term = row.getColumn(25).getString(); !term.empty())
        run.most_off = MostOff{term, row.getColumn(26).getDouble(), row.getColumn(27).getDouble()};
    run.most_off_due = row.getColumn(28).getInt() != 0;
    if (!is_end_state(run.state)) {
        const Headline now = headline_of(database, run.id);
        run.measured_tps_per_gpu = now.tps_per_gpu;
        run.measured_step_time_s = now.step_time_s;
        result.spread = now.spread;
        result.rule = now.rule;
    }
    if (run.predicted_tps_per_gpu && run.measured_tps_per_gpu && *run.measured_tps_per_gpu > 0)
        run.tps_error = *run.predicted_tps_per_gpu / *run.measured_tps_per_gpu - 1;
    return result;
}

std::vector<StepRow> steps_of(SQLite::Database& database, const std::string& run)
{
    std::vector<StepRow> rows;
    SQLite::Statement steps(database,
        "SELECT step, time, loss, grad_norm, learning_rate, step_time_s, tps_per_gpu, tflops_per_gpu, mfu,"
        " memory_peak_gib FROM steps WHERE run = ? ORDER BY seq");
    steps.bind(1, run);
    double first = 0;
    while (steps.executeStep()) {
        StepRow& row = rows.emplace_back();
        row.step = steps.getColumn(0).getInt();
        const double time = steps.getColumn(1).getDouble();
        if (rows.size() == 1)
            first = time;
        row.time_s = time - first;
        row.loss = real(steps.getColumn(2));
        row.grad_norm = real(steps.getColumn(3));
        row.learning_rate = real(steps.getColumn(4));
        row.step_time_s = real(steps.getColumn(5));
        row.tps_per_gpu = real(steps.getColumn(6));
        row.tflops_per_gpu = real(steps.getColumn(7));
        row.mfu = real(steps.getColumn(8));
        row.memory_peak_gib = real(steps.getColumn(9));
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
            std::string(kSummaryColumns)
                + (which == Runs::stored ? "WHERE r.deleted IS NULL " : "WHERE r.deleted IS NOT NULL ")
                + "ORDER BY r.created DESC, r.rowid DESC LIMIT ?");
        rows.bind(1, limit);
        std::vector<RunSummary> runs;
        while (rows.executeStep())
            runs.push_back(summary_row(rows, impl_->database).summary);
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
        SQLite::Statement rows(impl_->database, std::string(kSummaryColumns) + "WHERE r.id = ?");
        rows.bind(1, run);
        if (!rows.executeStep())
            return impl_->unknown_run(run);
        SummaryRow row = summary_row(rows, impl_->database);
        detail.summary = std::move(row.summary);
        detail.tps_spread = row.spread;
        detail.headline_rule = std::move(row.rule);

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

Expected<std::vector<int64_t>> HistoryStore::measured_plans(
    const std::string& stack, const std::string& model, int limit) const
{
    return guarded(impl_->file, [&]() -> Expected<std::vector<int64_t>> {
        SQLite::Statement rows(impl_->database,
            "SELECT p.id FROM plans p JOIN runs r ON r.plan = p.id WHERE p.model = ? AND r.stack = ?"
            " AND r.state <> 'oom' AND r.deleted IS NULL AND r.measured_tps_per_gpu IS NOT NULL"
            " GROUP BY p.id ORDER BY max(r.rowid) DESC LIMIT ?");
        rows.bind(1, model);
        rows.bind(2, stack);
        rows.bind(3, limit);
        std::vector<int64_t> plans;
        while (rows.executeStep())
            plans.push_back(rows.getColumn(0).getInt64());
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
