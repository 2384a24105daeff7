// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/text/validate_view.h"
#include "core/base/text.h"

#include <algorithm>

namespace fourfold::cli {

namespace {

constexpr std::size_t kMostTableSections = 6; // a table of many small tables shows its sums only

Column percent(const char* key, const char* title, int decimals = 1)
{
    return {key, title, decimals, 100, " %"};
}

struct Line {
    const ScoreView* view;
    const Figures* figures;
};

// The sections that are shown: sums, the core, and the tables where they are few.
std::vector<Line> lines_of(const ScoreCard& card)
{
    std::vector<Line> lines;
    for (const ScoreView& view : card.views) {
        const auto is_sum = [](const Figures& figures) {
            return figures.name == "all rows" || figures.name == "core" || figures.name.starts_with(kReleaseSection);
        };
        const auto tables = std::size_t(
            std::count_if(view.sections.begin(), view.sections.end(), [&](const Figures& f) { return !is_sum(f); }));
        for (const Figures& figures : view.sections) {
            if (is_sum(figures) || tables <= kMostTableSections)
                lines.push_back({&view, &figures});
        }
    }
    return lines;
}

Table throughput_table(const std::vector<Line>& lines)
{
    Table table;
    table.columns = {{"view", "throughput"}, {"section", "rows of"}, {"rows", "rows"}, percent("mape", "mean error", 2),
        percent("median", "median"), percent("max", "largest"), percent("bias", "bias"),
        percent("within_5", "within 5 %", 0), percent("within_10", "within 10 %", 0),
        percent("with_anomalies", "with anomalies", 2)};
    for (const auto& [view, figures] : lines) {
        const ErrorFigures& e = figures->throughput;
        if (e.rows > 0)
            table.rows.push_back({view->scored.label, figures->name, std::int64_t{e.rows}, e.mape, e.median, e.max,
                e.bias, e.within_5, e.within_10, figures->with_anomalies.mape});
    }
    return table;
}

Table memory_table(const std::vector<Line>& lines)
{
    Table table;
    table.columns
        = {{"view", "memory"}, {"section", "rows of"}, {"rows", "rows"}, {"mae_gib", "mean error", 2, 1, " GiB"},
            percent("mape", "share"), {"max_gib", "largest", 1, 1, " GiB"}, {"bias_gib", "bias", 2, 1, " GiB"}};
    for (const auto& [view, figures] : lines) {
        const MemoryFigures& m = figures->memory;
        if (m.rows > 0)
            table.rows.push_back(
                {view->scored.label, figures->name, std::int64_t{m.rows}, m.mae_gib, m.mape, m.max_gib, m.bias_gib});
    }
    return table;
}

Table verdict_table(const std::vector<Line>& lines)
{
    Table table;
    table.columns = {{"view", "fits or not"}, {"section", "rows of"}, {"cells", "cells"}, {"oom", "out of memory"},
        percent("right", "right"), {"false_alarms", "false alarms"}, {"missed", "missed"}, {"crashed", "crashed"},
        percent("runs_right", "ran or crashed, right"), {"runs_false", "false alarms"}, {"runs_missed", "missed"}};
    for (const auto& [view, figures] : lines) {
        const Verdicts &fits = figures->fits, &runs = figures->runs;
        if (runs.crashed + runs.false_alarms > 0)
            table.rows.push_back({view->scored.label, figures->name, std::int64_t{fits.cells},
                std::int64_t{fits.crashed}, fits.accuracy(), std::int64_t{fits.false_alarms}, std::int64_t{fits.missed},
                std::int64_t{runs.crashed}, runs.accuracy(), std::int64_t{runs.false_alarms},
                std::int64_t{runs.missed}});
    }
    return table;
}

Table ranking_table(const std::vector<Line>& lines)
{
    Table table;
    table.columns = {{"view", "ranking"}, {"section", "rows of"}, {"groups", "jobs"}, {"spearman", "Spearman", 3},
        {"spearman_min", "lowest", 3}, percent("regret", "regret of the fastest"), percent("regret_max", "largest"),
        percent("first_regret", "of the first"), percent("first_regret_max", "largest"),
        percent("planner", "among all cells"), {"crashed", "crashed picks"}};
    for (const auto& [view, figures] : lines) {
        const RankingFigures& r = figures->ranking;
        const PlannerFigures& p = figures->planner;
        if (r.groups > 0)
            table.rows.push_back({view->scored.label, figures->name, std::int64_t{r.groups}, r.spearman_mean,
                r.spearman_min, r.regret_mean, r.regret_max, r.first_regret_mean, r.first_regret_max, p.regret_mean,
                std::int64_t{p.crashed_picks}});
    }
    return table;
}

Table coverage_table(const ScoreCard& card)
{
    Table table;
    table.columns = {{"view", "90 % intervals"}, {"band", "band"}, {"rows", "rows"}, {"without", "without interval"},
        percent("coverage", "hold"), percent("half_width", "half-width"),
        percent("left_out_width", "from other groups"), percent("left_out_coverage", "hold")};
    for (const ScoreView& view : card.views) {
        for (const Coverage& c : view.coverage)
            table.rows.push_back({view.scored.label, c.name, std::int64_t{c.rows}, std::int64_t{c.without_interval},
                c.shipped, c.shipped_width, c.width, cell(c.crossed)});
    }
    return table;
}

std::string layout_text(const ResolvedPlan& plan)
{
    const Layout& layout = plan.layout;
    std::string text = "tp " + std::to_string(layout.tp) + " cp " + std::to_string(layout.cp) + " pp "
        + std::to_string(layout.pp) + " dp " + std::to_string(layout.dp) + " mbs "
        + std::to_string(plan.training.micro_batch);
    return layout.virtual_stages > 1 ? text + " vs " + std::to_string(layout.virtual_stages) : text;
}

Table worst_table(const ScoreView& view)
{
    Table table;
    table.columns = {{"line", "worst, line"}, {"row", "row"}, {"table", "table"}, {"model", "model"}, {"gpus", "GPUs"},
        {"layout", "layout"}, {"measured", "measured TPS/GPU", 0}, {"predicted", "predicted", 0},
        percent("error", "error")};
    for (const ScoredRow* row : view.worst)
        table.rows.push_back({std::to_string(row->row->line), row->row->row, row->row->table, row->row->plan.model.name,
            std::int64_t{row->row->plan.gpus}, layout_text(row->row->plan), *row->row->tps_per_gpu, *row->tps_per_gpu,
            *row->error()});
    return table;
}

// "342 rows: 168 ran, 124 crashed, 50 not scored; ..."
std::string counts_text(const ScoreCard& card)
{
    const MeasuredTable& table = *card.table;
    const auto ran
        = std::count_if(table.rows.begin(), table.rows.end(), [](const MeasuredRow& row) { return row.ran(); });
    const auto crashed
        = std::count_if(table.rows.begin(), table.rows.end(), [](const MeasuredRow& row) { return row.crashed(); });
    std::string text = std::to_string(table.lines) + " rows: " + std::to_string(ran) + " ran, "
        + std::to_string(crashed) + " crashed, " + std::to_string(card.unscored) + " were not run or cannot be placed";
    if (card.excluded > 0)
        text += "; " + std::to_string(card.excluded) + " marked as anomalies stand apart";
    if (const std::size_t bad = std::size_t(table.lines) - table.rows.size(); bad > 0)
        text += "; " + std::to_string(bad) + (bad == 1 ? " bad row is left out" : " bad rows are left out");
    return text;
}

std::vector<std::string> remarks_of(const ScoreCard& card)
{
    std::vector<std::string> remarks;
    if (!card.assumed.empty())
        remarks.push_back("assumed: " + joined(card.assumed, ", "));
    bool left_out = false;
    for (const ScoreView& view : card.views) {
        left_out |= view.scored.split.has_value();
        if (view.scored.stale)
            remarks.push_back(view.scored.label + ": its constants were fitted on another version of this table");
        if (!view.scored.groups_without_fold.empty())
            remarks.push_back(view.scored.label + ": no fit leaves out " + joined(view.scored.groups_without_fold, ", ")
                + "; these rows are not among them");
        const Figures& all = view.sections.front();
        if (all.unpredicted > 0)
            remarks.push_back(view.scored.label + ": " + std::to_string(all.unpredicted)
                + " rows that ran break a rule and get no time; they count as false alarms");
        if (const int unknown = all.fits.unknown; unknown > 0)
            remarks.push_back(view.scored.label + ": the source does not tell what recomputed in "
                + std::to_string(unknown) + (unknown == 1 ? " row" : " rows")
                + " that would not fit without; memory is an upper bound there, and no verdict");
    }
    if (!left_out)
        remarks.emplace_back("never fitted: no fold set of this table is in presets/folds");
    return remarks;
}

std::string paragraph(const std::string& text, TableFormat format)
{
    if (format == TableFormat::markdown)
        return markdown_text(text) + "\n\n";
    return (format == TableFormat::latex ? latex_text(text) : "  " + text) + "\n";
}

std::string heading(const std::string& text, TableFormat format)
{
    if (format == TableFormat::markdown)
        return "## " + markdown_text(text) + "\n\n";
    return format == TableFormat::latex ? "\\section{" + latex_text(text) + "}\n" : text + "\n";
}

} // namespace

std::string card_text(const ScoreCard& card, TableFormat format)
{
    std::string text = heading(card.table->name, format) + paragraph(counts_text(card), format);
    for (const std::string& remark : remarks_of(card))
        text += paragraph(remark, format);
    const std::vector<Line> lines = lines_of(card);
    for (const Table& table : {throughput_table(lines), memory_table(lines), verdict_table(lines), ranking_table(lines),
             coverage_table(card), worst_table(card.views.front())}) {
        if (table.rows.empty())
            continue;
        const std::string written = table.write(format);
        text += "\n" + (format == TableFormat::text ? indented(written) : written);
    }
    return text + "\n";
}

Table figures_table(const std::vector<ScoreCard>& cards)
{
    Table table;
    table.columns = {{"table"}, {"view"}, {"section"}, {"rows"}, {"mape"}, {"median"}, {"max"}, {"bias"}, {"within_5"},
        {"within_10"}, {"mape_with_anomalies"}, {"memory_rows"}, {"memory_mae_gib"}, {"memory_mape"}, {"fit_cells"},
        {"fit_right"}, {"fit_false_alarms"}, {"fit_missed"}, {"run_cells"}, {"run_right"}, {"run_false_alarms"},
        {"run_missed"}, {"jobs"}, {"spearman"}, {"regret_mean"}, {"regret_max"}, {"first_regret_mean"},
        {"first_regret_max"}, {"planner_regret_mean"}, {"planner_crashed"}};
    for (const ScoreCard& card : cards) {
        for (const ScoreView& view : card.views) {
            for (const Figures& f : view.sections) {
                const ErrorFigures& e = f.throughput;
                const auto whole = [](int value) { return Cell(std::int64_t{value}); };
                table.rows.push_back({card.table->name, view.scored.label, f.name, whole(e.rows), e.mape, e.median,
                    e.max, e.bias, e.within_5, e.within_10, f.with_anomalies.mape, whole(f.memory.rows),
                    f.memory.mae_gib, f.memory.mape, whole(f.fits.cells), whole(f.fits.right),
                    whole(f.fits.false_alarms), whole(f.fits.missed), whole(f.runs.cells), whole(f.runs.right),
                    whole(f.runs.false_alarms), whole(f.runs.missed), whole(f.ranking.groups), f.ranking.spearman_mean,
                    f.ranking.regret_mean, f.ranking.regret_max, f.ranking.first_regret_mean,
                    f.ranking.first_regret_max, f.planner.regret_mean, whole(f.planner.crashed_picks)});
            }
        }
    }
    return table;
}

std::string intervals_text(const std::vector<Coverage>& intervals, TableFormat format)
{
    if (intervals.empty())
        return "";
    Table table;
    table.columns = {{"prediction", "90 % intervals on data that made nothing"}, {"rows", "rows"},
        percent("coverage", "hold"), percent("half_width", "mean half-width")};
    for (const Coverage& c : intervals)
        table.rows.push_back({c.name, std::int64_t{c.rows}, cell(c.crossed), c.width});
    return table.write(format) + "\n";
}

std::string validation_report(const std::vector<ScoreCard>& cards, const std::vector<Coverage>& intervals)
{
    std::string text = "# Predictions beside published measurements\n\n"
                       "Written by `fourfold validate --report`. Errors are of throughput, predicted / measured - 1, "
                       "over every measured row but those that the table itself marks as anomalies (the last column "
                       "has them too). *Left out*: each group of rows was predicted with constants fitted without it; "
                       "the structure of the model was chosen with all rows in sight. *In-sample*: with the constants "
                       "that ship, fitted to these very rows. A job is one model on one number of GPUs with one "
                       "batch; regret is what its first pick loses against its measured best; a setting printed more "
                       "than once is one layout with the mean of its measurements. *Among all cells*: "
                       "crashed layouts can be picked too and lose 100 %. *From other groups*: the half-width that "
                       "the errors of the other left-out groups ask for, and the share of rows that it holds. The last "
                       "table holds every left-out group, and every source as another software would predict it, "
                       "against widths from all other groups and sources.\n\n";
    for (const ScoreCard& card : cards)
        text += card_text(card, TableFormat::markdown);
    text += intervals_text(intervals, TableFormat::markdown);
    while (text.ends_with("\n\n"))
        text.pop_back();
    return text;
}

} // namespace fourfold::cli
