// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/history/summaries.h"

#include "core/base/text.h"
#include "core/history/rows.h"

#include <type_traits>
#include <variant>
#include <vector>

namespace fourfold::history {

namespace {

// Text that was stored before it was cleaned on its way in may hold anything.
std::string shown_text(const SQLite::Column& column)
{
    return printable(column.getString(), kUncut);
}

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

} // namespace

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
                    run.*member = real_of(value);
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

} // namespace fourfold::history
