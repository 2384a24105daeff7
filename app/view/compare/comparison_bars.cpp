// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/compare/comparison_bars.h"

#include "app/view/answer.h"
#include "app/view/prediction/plan_charts.h"
#include "app/view/text.h"

#include <algorithm>

namespace fourfold::view {

namespace {

// In a stack the parts of communication differ, too.
ChartKind part_kind(Part part)
{
    static constexpr std::pair<unsigned, bool> kLooks[kParts]{{okabe::kBlue, false}, {okabe::kSky, false},
        {okabe::kPurple, false}, {okabe::kVermilion, false}, {okabe::kOrange, false}, {okabe::kYellow, false},
        {okabe::kPurple, true}, {okabe::kGrey, true}, {okabe::kGreen, false}, {okabe::kGrey, false}};
    const auto& [rgb, pale] = kLooks[static_cast<int>(part)];
    return {part_label(part), rgb, pale};
}

using PredictedFigure = std::optional<double> (*)(const Prediction& prediction);
using MeasuredFigure = std::optional<double> (*)(const ComparedEntry& entry);

// A row for each that is known: predicted, and measured behind it.
void add_rows(BarChart& chart, std::span<const ComparedEntry> entries, PredictedFigure predicted,
    MeasuredFigure measured, std::string (*text)(double))
{
    chart.kinds = {{"Predicted", okabe::kBlue}};
    for (const ComparedEntry& entry : entries) {
        if (const auto value = entry.prediction ? predicted(*entry.prediction) : std::nullopt)
            chart.rows.push_back({entry.name, {*value}, text(*value)});
        if (const auto value = measured(entry)) {
            if (chart.kinds.size() == 1)
                chart.kinds.push_back({"Measured", okabe::kOrange});
            chart.rows.push_back({entry.name + ", measured", {0, *value}, text(*value)});
        }
    }
}

void add_memory(BarChart& chart, std::span<const ComparedEntry> entries)
{
    chart.kinds = memory_kinds();
    for (const ComparedEntry& entry : entries) {
        const StageMemory* const stage = entry.prediction ? fullest(*entry.prediction) : nullptr;
        chart.rows.push_back({entry.name, stage ? memory_parts(*stage) : std::vector<double>(),
            stage ? gib(stage->total()) : std::string(kUnknown)});
    }
}

void add_step(BarChart& chart, std::span<const ComparedEntry> entries)
{
    std::vector<Part> parts;
    const auto has_step = [](const ComparedEntry& entry) { return entry.prediction && entry.prediction->step_time_s; };
    for (int i = 0; i < kParts; ++i) {
        const auto part = static_cast<Part>(i);
        if (!std::ranges::any_of(entries, [&](const ComparedEntry& entry) {
                return has_step(entry) && entry.prediction->time_by_part[part] > 0;
            }))
            continue;
        parts.push_back(part);
        chart.kinds.push_back(part_kind(part));
    }
    for (const ComparedEntry& entry : entries) {
        BarChart::Row row{entry.name, {}, has_step(entry) ? duration(*entry.prediction->step_time_s) : kUnknown};
        for (const Part part : parts) {
            if (has_step(entry))
                row.parts.push_back(entry.prediction->time_by_part[part]);
        }
        chart.rows.push_back(std::move(row));
    }
}

} // namespace

const StageMemory* fullest(const Prediction& prediction)
{
    const auto found = std::ranges::max_element(
        prediction.memory_by_stage, {}, [](const StageMemory& stage) { return stage.total(); });
    return found == prediction.memory_by_stage.end() ? nullptr : &*found;
}

std::optional<double> mfu_of(const Prediction& prediction)
{
    return prediction.mfu ? prediction.mfu : prediction.mfu_bf16_peak;
}

std::optional<double> mfu_at(const Prediction& prediction, const std::optional<double>& measured_tps_per_gpu)
{
    const std::optional<double> predicted = mfu_of(prediction);
    if (!predicted || !measured_tps_per_gpu || !prediction.tps_per_gpu || *prediction.tps_per_gpu <= 0)
        return {};
    return *predicted * *measured_tps_per_gpu / *prediction.tps_per_gpu;
}

BarChart comparison_bars(std::span<const ComparedEntry> entries, ComparedFigure figure)
{
    BarChart chart;
    switch (figure) {
    case ComparedFigure::throughput:
        chart.title = "Tokens/s per GPU";
        add_rows(
            chart, entries, [](const Prediction& p) { return p.tps_per_gpu; },
            [](const ComparedEntry& entry) { return entry.measured_tps_per_gpu; }, throughput_text);
        break;
    case ComparedFigure::mfu:
        chart.title = "MFU, %";
        add_rows(
            chart, entries, mfu_of,
            [](const ComparedEntry& entry) {
                return entry.prediction ? mfu_at(*entry.prediction, entry.measured_tps_per_gpu) : std::nullopt;
            },
            [](double share) { return percent(share); });
        break;
    case ComparedFigure::memory:
        chart.title = "GiB per GPU of the fullest stage, predicted";
        add_memory(chart, entries);
        break;
    case ComparedFigure::step_time:
        chart.title = "Step time by exposed parts, predicted";
        add_step(chart, entries);
        break;
    }
    return chart;
}

} // namespace fourfold::view
