// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/prediction/plan_charts.h"

#include "app/view/answer.h"
#include "app/view/plan/facts.h"
#include "app/view/prediction/memory_columns.h"
#include "app/view/prediction/rank_mesh.h"
#include "app/view/text.h"
#include "core/base/text.h"
#include "core/predict/step_time.h"
#include "core/report/views/nearest_row.h"

#include <algorithm>
#include <ctime>

namespace fourfold::view {

namespace {

struct MemoryWord {
    const char* name;
    double StageMemory::*gib;
    unsigned rgb;
};
// In the order in which they are stacked, and of KindBytes.
constexpr MemoryWord kMemoryWords[]{{"Weights", &StageMemory::weights, okabe::kBlue},
    {"Gradients", &StageMemory::gradients, okabe::kSky}, {"Optimizer", &StageMemory::optimizer, okabe::kGreen},
    {"Activations", &StageMemory::activations, okabe::kOrange}, {"Buffers", &StageMemory::other, okabe::kPurple}};

unsigned rgb_of(Part part)
{
    switch (part) {
    case Part::compute:
        return okabe::kBlue;
    case Part::recompute:
        return okabe::kSky;
    case Part::optimizer:
        return okabe::kGreen;
    case Part::bubble:
    case Part::other:
        return okabe::kGrey;
    default:
        return okabe::kPurple; // communication
    }
}

Table figures_table(const Prediction& prediction)
{
    Table table;
    table.columns = {{"figure", "Figure"}, {"value", "Predicted"}, {"basis", "Of"}, {"interval", "Interval"}};
    for (const Figure& figure : answer_figures(prediction))
        table.rows.push_back({figure.title, figure.value + (figure.unit.empty() ? "" : " " + figure.unit),
            text_cell(figure.basis), text_cell(figure.confidence)});
    return table;
}

} // namespace

std::vector<ChartKind> memory_kinds()
{
    std::vector<ChartKind> kinds;
    for (const MemoryWord& word : kMemoryWords)
        kinds.push_back({word.name, word.rgb});
    return kinds;
}

std::vector<double> memory_parts(const StageMemory& stage)
{
    std::vector<double> parts;
    for (const MemoryWord& word : kMemoryWords)
        parts.push_back(stage.*word.gib);
    return parts;
}

std::vector<PartTime> part_times(const Prediction& prediction)
{
    std::vector<PartTime> times;
    for (const PartWord& word : part_words()) {
        const PartTime time{
            word.part, word.label, prediction.time_by_part[word.part], prediction.time_hidden[word.part]};
        if (time.exposed_s > 0 || time.hidden_s > 0)
            times.push_back(time);
    }
    return times;
}

BarChart memory_chart(const Prediction& prediction)
{
    BarChart chart{"Memory per stage", "GiB per GPU", memory_kinds(), {}, {}};
    for (const StageMemory& stage : prediction.memory_by_stage)
        chart.rows.push_back({text_of("P%d", stage.stage), memory_parts(stage), gib(stage.total())});
    if (prediction.memory_capacity_gib > 0)
        chart.limits.push_back({prediction.memory_capacity_gib, gib(prediction.memory_capacity_gib) + " usable"});
    return chart;
}

AreaChart memory_chart(const Prediction& prediction, const MemoryCurve& curve)
{
    constexpr int kColumns = 900;
    const double length = prediction.timeline.length_s, usable = prediction.memory_capacity_gib;
    AreaChart chart;
    chart.title = text_of("Memory over time of stage P%d", curve.stage);
    chart.note = "GiB allocated; peak " + gib(curve.peak_gib) + " GiB at " + duration(curve.peak_s)
        + (curve.shortened ? ", of fewer micro-batches" : "");
    chart.kinds = memory_kinds();
    chart.top = memory_top(curve, usable);
    chart.x_low = "0 s";
    chart.x_high = duration(length);
    chart.y_text = gib;
    if (curve.points.empty() || !(length > 0))
        return chart;
    for (const KindBytes& column : memory_columns(curve, length, kColumns))
        chart.columns.emplace_back(column.begin(), column.end());
    if (shows_beyond(curve))
        chart.limits.push_back(
            {curve.peak_gib + curve.beyond_gib, gib(curve.peak_gib + curve.beyond_gib) + " with fragmentation"});
    if (usable > 0 && usable <= chart.top)
        chart.limits.push_back({usable, gib(usable) + " usable"});
    return chart;
}

TileChart mesh_chart(const ResolvedPlan& plan)
{
    constexpr int kMostNodes = 256;
    constexpr unsigned kColours[]{okabe::kBlue, okabe::kOrange, okabe::kGreen, okabe::kPurple, okabe::kSky,
        okabe::kVermilion, okabe::kYellow, okabe::kGrey};
    const RankMesh mesh(plan);
    const int nodes = std::min(mesh.nodes(), kMostNodes);
    // Stages stand out where there are any: they are what a pipeline's picture is about.
    const Dimension by = plan.layout.pp > 1 ? Dimension::pp : plan.layout.tp > 1 ? Dimension::tp : Dimension::dp;
    TileChart chart;
    chart.title = "Rank mesh";
    chart.note = mesh.order_text() + ", innermost first; coloured by " + dimension_label(by)
        + (nodes < mesh.nodes() ? "; the first " + counted(nodes, "node") + " of " + grouped(mesh.nodes()) : "");
    for (int local = 0; local < mesh.per_node(); ++local)
        chart.columns.push_back(text_of("GPU %d", local));
    for (int node = 0; node < nodes; ++node) {
        chart.rows.push_back(text_of("node %d", node));
        std::vector<TileChart::Tile>& tiles = chart.tiles.emplace_back();
        const int end = std::min(mesh.ranks(), (node + 1) * mesh.per_node());
        for (int rank = node * mesh.per_node(); rank < end; ++rank) {
            const Coordinates at = mesh.at(rank);
            std::string words;
            for (const Dimension dimension : kDimensions) {
                if (plan.layout.degree(dimension) == 1)
                    continue;
                words += words.empty() ? "" : " ";
                words += to_text(dimension);
                words += std::to_string(at.get(dimension));
            }
            tiles.push_back({words, kColours[static_cast<std::size_t>(at.get(by)) % std::size(kColours)], 0.75});
        }
    }
    return chart;
}

BarChart step_time_chart(const Prediction& prediction)
{
    const double total = prediction.time_by_part.total();
    BarChart chart{"Step time", "where " + duration(total) + " goes; exposed parts add up to the step",
        {{"Exposed", okabe::kPurple}, {"Hidden behind compute", okabe::kPurple, true}}, {}, {}};
    for (const PartTime& time : part_times(prediction))
        chart.rows.push_back({time.label, {time.exposed_s, time.hidden_s},
            duration(time.exposed_s) + "   " + (total > 0 ? percent(time.exposed_s / total) : kUnknown) + " %",
            rgb_of(time.part)});
    return chart;
}

std::string report_day()
{
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    char text[16]{};
    ::localtime_r(&now, &local);
    std::strftime(text, sizeof text, "%Y-%m-%d", &local);
    return std::string("Fourfold, ") + text;
}

std::vector<std::string> report_lines(const Prediction& prediction)
{
    const ResolvedPlan& plan = prediction.plan;
    const Verdict verdict = verdict_of(prediction);
    std::vector<std::string> lines{
        plan.model.name + ", " + parameters_fact(plan) + "; " + plan.cluster.name + " (" + gpus_fact(plan) + ")",
        layout_line(plan.layout) + "; " + schedule_fact(plan) + "; " + tokens_fact(plan) + "; stack " + plan.stack.name
            + ", " + evidence_text(prediction.evidence),
        verdict.word + " " + verdict.rest + ". " + report_day()};
    if (prediction.nearest)
        lines.push_back("Nearest measured: " + nearest_row_text(*prediction.nearest));
    for (const std::string& warning : prediction.warnings)
        lines.push_back("Warning: " + warning);
    return lines;
}

ReportPage plan_report(const std::shared_ptr<const Prediction>& prediction, const std::string& title)
{
    return {title, report_lines(*prediction),
        {{figures_table(*prediction), 0}, {Chart(memory_chart(*prediction)), 250},
            {Chart(step_time_chart(*prediction)), 260},
            {ReportTimelines{
                 {{prediction, &prediction->timeline}, schedule_fact(prediction->plan), steady_part(*prediction)}},
                320}}};
}

} // namespace fourfold::view
