// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/text/search_text.h"

#include "core/base/text.h"
#include "core/calibration/user/evidence.h"
#include "core/predict/rank.h"
#include "core/report/views/advice_table.h"
#include "core/report/views/obstacle.h"
#include "core/search/cures.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace fourfold::cli {

namespace {

Cell known(double value)
{
    return std::isnan(value) ? Cell() : Cell(value);
}

std::string count(std::int64_t number, const char* word)
{
    return shown_number(double(number), 0) + " " + word + (number == 1 ? "" : "s");
}

std::string counts_text(const SearchResult& result)
{
    const SearchCounts& counts = result.counts;
    std::ostringstream out;
    out << count(counts.enumerated, "layout") << " in " << shown_number(result.seconds, result.seconds < 1 ? 3 : 1)
        << " s: " << shown_number(double(counts.evaluated), 0) << " evaluated, "
        << shown_number(double(counts.bounded), 0) << " ruled out by a bound, "
        << shown_number(double(counts.does_not_fit), 0) << " do not fit, "
        << shown_number(double(counts.constrained), 0) << " outside the constraints, "
        << shown_number(double(counts.broken_rules), 0) << " break a rule";
    if (counts.refused > 0)
        out << ", " << shown_number(double(counts.refused), 0) << " hidden as the software would stop at them";
    out << "\n";
    return out.str();
}

Table rejection_table(const SearchResult& result)
{
    Table table;
    table.columns = {{"count", "layouts"}, {"code", "left out by"}, {"example", "for example"}};
    for (const Rejection& rejection : result.rejections)
        table.rows.push_back({rejection.count, rejection.code, text_cell(rejection.example)});
    return table;
}

} // namespace

Table layout_table(const SearchRequest& request, const std::vector<FoundLayout>& layouts)
{
    Table table;
    table.columns = {{"place", "#"}, {"gpus", "GPUs"}, {"tp", "TP"}, {"cp", "CP"}, {"pp", "PP"}, {"dp", "DP"},
        {"ep", "EP"}, {"virtual_stages", "VPP"}, {"micro_batch", "MBS"}, {"global_batch", "GBS"},
        {"schedule", "schedule"}, {"sharding", "sharding"}, {"recompute", "recompute"}, {"order", "order"},
        {"step_time_s", "step (s)", 3}, {"tps_per_gpu", "TPS/GPU"}, {"tflops_per_gpu", "TFLOP/s", 1},
        {"mfu", "MFU", 1, 100, " %"}, {"memory_gib", "GiB", 1}, {"memory_device_gib", "device GiB", 1}, {"fit", "fit"},
        {"risk", "risk", 0, 100, " %"}, {"evidence", "evidence"}, {"own_runs", "by own runs", 3}, {"days", "days", -3},
        {"energy_mwh", "MWh", -3}, {"cost", "cost", 0}, {"goodput", "goodput", 1, 100, " %"},
        {"expected_days", "days with failures", -3}, {"may_beat_first", "may beat the first by", 1, 100, " %"}};
    PlanValues values{};
    JobEvidence evidence(request.plan);
    std::int64_t row = 0;
    for (const FoundLayout& found : layouts) {
        ++row;
        const ResolvedPlan plan = plan_of(found, request);
        fill_layout(values, plan);
        fill_figures(values, plan, found.figures, request.budget);
        const auto figure = [&](PlanField field) { return known(values[slot(field)]); };
        const auto whole = [](int value) { return Cell(std::int64_t(value)); };
        const Layout& layout = plan.layout;
        table.rows.push_back({found.place > 0 ? found.place : row, whole(plan.gpus), whole(layout.tp), whole(layout.cp),
            whole(layout.pp), whole(layout.dp), whole(layout.ep), whole(layout.virtual_stages),
            whole(plan.training.micro_batch), whole(plan.training.global_batch), to_text(plan.training.schedule),
            to_text(plan.training.sharding), to_text(plan.training.recompute), order_text(layout.order),
            figure(PlanField::step_time_s), figure(PlanField::tps_per_gpu), figure(PlanField::tflops_per_gpu),
            figure(PlanField::mfu), figure(PlanField::memory_gib), figure(PlanField::memory_device_gib),
            std::string(name(found.figures.fit)), found.risk,
            std::string(name(evidence.of(plan, found.figures.memory_device_gib))),
            found.stretch == 1 ? Cell() : Cell(found.stretch), figure(PlanField::days), figure(PlanField::energy_mwh),
            figure(PlanField::cost), figure(PlanField::goodput), figure(PlanField::expected_days),
            found.place > 0 && row > 1 ? Cell(found.may_beat_first) : Cell()});
    }
    return table;
}

namespace {

// Columns that say the same in every row are told once, above the table.
std::string without_constants(Table table)
{
    std::string told;
    for (std::size_t column = table.columns.size(); column-- > 1;) {
        const bool same = std::all_of(table.rows.begin(), table.rows.end(),
            [&](const std::vector<Cell>& row) { return row[column] == table.rows.front()[column]; });
        if (!same || table.rows.size() < 2)
            continue;
        const Cell& value = table.rows.front()[column];
        if (!std::holds_alternative<std::monostate>(value))
            told = table.columns[column].title + " " + shown(value, table.columns[column]) + (told.empty() ? "" : ", ")
                + told;
        table.columns.erase(table.columns.begin() + std::ptrdiff_t(column));
        for (std::vector<Cell>& row : table.rows)
            row.erase(row.begin() + std::ptrdiff_t(column));
    }
    return (told.empty() ? "" : "all: " + told + "\n") + table.write(TableFormat::text);
}

std::string ranking_remark(const std::vector<FoundLayout>& best)
{
    const auto tie = std::adjacent_find(
        best.begin(), best.end(), [](const FoundLayout& a, const FoundLayout& b) { return a.place == b.place; });
    std::string out;
    if (tie != best.end())
        out = "layouts of one place differ by less than the model can tell; less memory first\n";
    if (best.size() > 1 && best[1].may_beat_first > 0)
        out += "the first may lose up to " + shown_number(100 * best[1].may_beat_first, 1)
            + " % to the next (90 % confidence)\n";
    if (std::any_of(best.begin(), best.end(), [](const FoundLayout& found) { return found.stretch != 1; }))
        out += "by own runs: your own runs near a layout shift its time by this factor, as fourfold predict has it\n";
    if (std::any_of(best.begin(), best.end(), [](const FoundLayout& found) { return found.risk > kMarkedRisk; }))
        out += "a risk of not fitting above " + shown_number(100 * kMarkedRisk, 0)
            + " % is weighed in: such a layout stands where its speed times (1 - risk) puts it\n";
    return out;
}

} // namespace

std::string search_text(const SearchRequest& request, const SearchResult& result, bool pareto)
{
    std::string out = counts_text(result);
    if (!result.best.empty()) {
        out += "\nbest by " + request.objective.expression.text()
            + (request.expected ? ", as expected of a pick given how well its kind was measured\n" : "\n");
        out += without_constants(layout_table(request, result.best));
        out += ranking_remark(result.best);
    }
    if (pareto && !result.pareto.empty()) {
        out += "\nPareto front: nothing else is as fast with as little memory on as few GPUs\n";
        out += without_constants(layout_table(request, result.pareto));
    }
    if (!result.rejections.empty())
        out += "\n" + rejection_table(result).write(TableFormat::text);
    return out;
}

Json search_json(const SearchRequest& request, const SearchResult& result)
{
    const SearchCounts& counts = result.counts;
    Json json;
    json["objective"] = request.objective.expression.text();
    json["expected"] = request.expected;
    json["first_may_lose"] = result.best.size() > 1 ? Json(result.best[1].may_beat_first) : Json();
    json["seconds"] = result.seconds;
    json["counts"] = {{"enumerated", counts.enumerated}, {"evaluated", counts.evaluated}, {"bounded", counts.bounded},
        {"does_not_fit", counts.does_not_fit}, {"constrained", counts.constrained},
        {"broken_rules", counts.broken_rules}, {"refused", counts.refused}};
    json["best"] = layout_table(request, result.best).to_json();
    json["pareto"] = layout_table(request, result.pareto).to_json();
    json["rejections"] = rejection_table(result).to_json();
    json["constraints"] = Json::array();
    for (const ConstraintOutcome& constraint : result.constraints)
        json["constraints"].push_back({{"constraint", constraint.text}, {"judged", constraint.judged},
            {"held", constraint.held}, {"nearest_miss", constraint.nearest_miss}});
    return json;
}

Problem nothing_found(const SearchRequest& request, const SearchResult& result)
{
    Problem problem = obstacle(request, result);
    std::string words;
    for (const Advice& change : cures(request, result))
        words += (words.empty() ? "; it would do with: " : "; or ") + advice_line(change);
    problem.hint += words;
    return problem;
}

Table field_table()
{
    Table table;
    table.columns = {{"field", "field"}, {"unit", "unit"}, {"meaning", "meaning"}};
    for (const ExpressionField& field : plan_field_set().fields()) {
        std::string meaning = field.meaning;
        if (field.kind == ValueKind::text && field.spellings.size() <= 10)
            meaning += ": " + joined(field.spellings, ", ");
        table.rows.push_back({field.name, text_cell(field.unit), meaning});
    }
    return table;
}

} // namespace fourfold::cli
