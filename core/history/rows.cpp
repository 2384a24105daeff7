// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/history/rows.h"

#include "core/base/text.h"

#include <SQLiteCpp/Statement.h>

#include <algorithm>
#include <cctype>

namespace fourfold::history {

namespace {

// A preset's name for people: an inlined model or cluster carries it, a reference is its own name.
std::string display_name(const Json& plan, const char* key)
{
    if (!plan.is_object() || !plan.contains(key))
        return "";
    const Json& value = plan[key];
    if (value.is_string())
        return value.get<std::string>();
    for (const char* name : {"name", "id", "_name_or_path", "model_type"})
        if (const std::string text = string_at(value, name); !text.empty())
            return text;
    return "";
}

// "tp2 cp1 pp1 dp8 mb1", with ep and virtual stages where there are any.
std::string layout_text(const Json& plan)
{
    const Json layout = plan.is_object() && plan.contains("layout") ? plan["layout"] : Json::object();
    const Json training = plan.is_object() && plan.contains("training") ? plan["training"] : Json::object();
    std::string text;
    for (const char* key : {"tp", "cp", "pp", "dp"})
        text += key + std::to_string(whole(layout, key, 1)) + " ";
    if (const int ep = whole(layout, "ep", 1); ep > 1)
        text += "ep" + std::to_string(ep) + " ";
    if (const int stages = whole(layout, "virtual_stages", 1); stages > 1)
        text += "vs" + std::to_string(stages) + " ";
    return text + "mb" + std::to_string(whole(training, "micro_batch", 1));
}

} // namespace

std::optional<double> real_of(const SQLite::Column& column)
{
    return column.isNull() ? std::nullopt : std::optional(column.getDouble());
}

void bind_real(SQLite::Statement& statement, int index, const std::optional<double>& value)
{
    if (value)
        statement.bind(index, *value);
    else
        statement.bind(index);
}

int whole(const Json& object, const char* key, int fallback)
{
    const auto value = number_at(object, key);
    return value && *value >= 0 && *value <= 1e9 ? static_cast<int>(*value) : fallback;
}

bool is_plain_id(const std::string& id)
{
    return !id.empty() && id.size() <= 64 && id != "last"
        && std::all_of(id.begin(), id.end(), [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; });
}

std::string text_of(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string text_of_tags(std::vector<std::string> tags)
{
    std::sort(tags.begin(), tags.end());
    tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
    return text_of(Json(tags));
}

std::vector<std::string> tags_of(const std::string& text)
{
    std::vector<std::string> tags;
    const Json list = Json::parse(text, nullptr, false);
    for (const Json& tag : list.is_array() ? list : Json::array()) {
        if (tag.is_string())
            tags.push_back(printable(tag.get<std::string>(), kUncut));
    }
    return tags;
}

std::string step_columns(const std::string& before, bool with_names)
{
    std::string out;
    for (const auto& [key, member] : kStepValues)
        out += before + (with_names ? key : "");
    return out;
}

bool readable(SQLite::Database& database) noexcept
{
    const std::string reads[] = {
        "SELECT id, hash, layout_hash, model, cluster, layout, gpus, document FROM plans",
        "SELECT id, plan, feasible, tps_per_gpu, step_time_s, memory_gib, document FROM predictions",
        "SELECT id, name, target, stack, state, problem, created, plan, prediction, planned_prediction, environment,"
        " versions, steps, first_loss, last_loss, eval_loss, measured_memory_gib, measured_tps_per_gpu,"
        " measured_step_time_s, tps_spread, headline_rule, tags, note, deleted, most_off, most_off_predicted_s,"
        " most_off_measured_s, most_off_due FROM runs",
        "SELECT h.name, r.run, r.position FROM run_hosts r JOIN hosts h ON h.id = r.host",
        "SELECT run, component, version FROM software_versions",
        "SELECT run, stream, seq, kind, line FROM events",
        "SELECT run, seq, step, time" + step_columns(", ") + " FROM steps",
        "SELECT run, stream, last_seq FROM cursors",
    };
    try {
        for (const std::string& query : reads)
            SQLite::Statement(database, query);
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

int64_t plan_row(SQLite::Database& database, const std::string& hash, const std::string& layout_hash, const Json& plan)
{
    const std::string document = text_of(plan);
    SQLite::Statement find(database, "SELECT id FROM plans WHERE hash = ? AND document = ?");
    find.bind(1, hash);
    find.bind(2, document);
    if (find.executeStep())
        return find.getColumn(0).getInt64();
    SQLite::Statement insert(database,
        "INSERT INTO plans (hash, layout_hash, model, cluster, layout, gpus, document) VALUES (?, ?, ?, ?, ?, ?, ?)");
    insert.bind(1, hash);
    insert.bind(2, layout_hash);
    insert.bind(3, display_name(plan, "model"));
    insert.bind(4, display_name(plan, "cluster"));
    insert.bind(5, layout_text(plan));
    insert.bind(6, whole(plan, "gpus", 0));
    insert.bind(7, document);
    insert.exec();
    return database.getLastInsertRowid();
}

int64_t add_prediction(SQLite::Database& database, int64_t plan, const Json& prediction)
{
    SQLite::Statement insert(database,
        "INSERT INTO predictions (plan, feasible, tps_per_gpu, step_time_s, memory_gib, document)"
        " VALUES (?, ?, ?, ?, ?, ?)");
    insert.bind(1, plan);
    insert.bind(2, prediction.is_object() && prediction.value("feasible", Json(false)) == Json(true) ? 1 : 0);
    bind_real(insert, 3, number_at(prediction, "tps_per_gpu"));
    bind_real(insert, 4, number_at(prediction, "step_time_s"));
    bind_real(insert, 5, number_at(prediction, "memory_gib"));
    insert.bind(6, text_of(prediction));
    insert.exec();
    return database.getLastInsertRowid();
}

void add_hosts(SQLite::Database& database, const std::string& run, const std::vector<std::string>& hosts)
{
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        SQLite::Statement host(database, "INSERT INTO hosts (name) VALUES (?) ON CONFLICT DO NOTHING");
        host.bind(1, hosts[i]);
        host.exec();
        SQLite::Statement link(database, "INSERT INTO run_hosts SELECT ?, ?, id FROM hosts WHERE name = ?");
        link.bind(1, run);
        link.bind(2, static_cast<int64_t>(i));
        link.bind(3, hosts[i]);
        link.exec();
    }
}

std::optional<int> read_at_of(SQLite::Database& database, const std::string& run)
{
    SQLite::Statement find(database, "SELECT p.document FROM runs r JOIN plans p ON p.id = r.plan WHERE r.id = ?");
    find.bind(1, run);
    if (!find.executeStep())
        return std::nullopt;
    const Json plan = Json::parse(find.getColumn(0).getString(), nullptr, false);
    if (!plan.is_object() || !plan.contains("run"))
        return std::nullopt;
    const auto step = number_at(plan["run"], "read_at");
    return step && *step >= 0 && *step <= 1e9 ? std::optional(static_cast<int>(*step)) : std::nullopt;
}

Headline headline_of(SQLite::Database& database, const std::string& run)
{
    std::vector<StepFigures> figures;
    SQLite::Statement steps(database,
        "SELECT step, tps_per_gpu, step_time_s FROM steps WHERE run = ? AND tps_per_gpu IS NOT NULL ORDER BY seq");
    steps.bind(1, run);
    while (steps.executeStep()) {
        StepFigures& figure = figures.emplace_back();
        figure.step = steps.getColumn(0).getInt();
        figure.tps_per_gpu = steps.getColumn(1).getDouble();
        if (!steps.getColumn(2).isNull())
            figure.step_time_s = steps.getColumn(2).getDouble();
    }
    return headline(std::move(figures), read_at_of(database, run));
}

void store_headline(SQLite::Database& database, const std::string& run)
{
    SQLite::Statement state(database, "SELECT state FROM runs WHERE id = ?");
    state.bind(1, run);
    if (!state.executeStep() || !is_terminal(state.getColumn(0).getString()))
        return;
    const Headline figures = headline_of(database, run);
    SQLite::Statement update(database,
        "UPDATE runs SET measured_tps_per_gpu = ?, measured_step_time_s = ?, tps_spread = ?, headline_rule = ?"
        " WHERE id = ?");
    bind_real(update, 1, figures.tps_per_gpu);
    bind_real(update, 2, figures.step_time_s);
    bind_real(update, 3, figures.spread);
    update.bind(4, figures.rule);
    update.bind(5, run);
    update.exec();
}

void refresh_summary(SQLite::Database& database, const std::string& run)
{
    SQLite::Statement update(database,
        "UPDATE runs SET steps = (SELECT count(*) FROM steps WHERE run = runs.id),"
        " measured_memory_gib = (SELECT max(memory_peak_gib) FROM steps WHERE run = runs.id),"
        " first_loss = (SELECT loss FROM steps WHERE run = runs.id AND loss IS NOT NULL ORDER BY seq LIMIT 1),"
        " last_loss = (SELECT loss FROM steps WHERE run = runs.id AND loss IS NOT NULL ORDER BY seq DESC LIMIT 1),"
        " eval_loss = (SELECT json_extract(line, '$.loss') FROM events WHERE run = runs.id AND stream = ?"
        "  AND kind = 'eval' AND json_type(line, '$.loss') IN ('real', 'integer') ORDER BY seq DESC LIMIT 1)"
        " WHERE id = ?");
    update.bind(1, std::string(kMainStream));
    update.bind(2, run);
    update.exec();
    store_headline(database, run);
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
            row.*member = real_of(steps.getColumn(column++));
    }
    return rows;
}

Json last_step_of(SQLite::Database& database, const std::string& run)
{
    SQLite::Statement row(
        database, "SELECT line FROM events WHERE run = ? AND stream = ? AND kind = 'step' ORDER BY seq DESC LIMIT 1");
    row.bind(1, run);
    row.bind(2, std::string(kMainStream));
    return row.executeStep() ? Json::parse(row.getColumn(0).getString(), nullptr, false) : Json();
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

} // namespace fourfold::history
