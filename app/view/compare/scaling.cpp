// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/compare/scaling.h"

#include "app/view/plan/edits.h"
#include "core/predict/prediction.h"

#include <algorithm>
#include <map>

namespace fourfold::view {

namespace {
constexpr int kPoints = 7; // of a line
constexpr std::size_t kMostLines = 6; // as many as looks that can be told apart

// The plan as its user would have written it, without what was derived from the number of GPUs.
Expected<Plan> editable(const ResolvedPlan& plan)
{
    Json document = to_json(plan, PresetStyle::ids);
    for (const auto& [object, key] :
        {std::pair("layout", "dp"), std::pair("layout", "dp_shard"), std::pair("training", "micro_batches")}) {
        if (const auto found = document.find(object); found != document.end() && found->is_object())
            found->erase(key);
    }
    return plan_from_json(std::move(document), plan.where);
}
} // namespace

std::vector<ScalingPoint> scaling_of(const ResolvedPlan& plan, const Presets& presets, int most,
    const Predicting& predicting, const std::stop_token& stop)
{
    std::vector<ScalingPoint> points;
    const Expected<Plan> base = editable(plan);
    if (!base)
        return points;
    int dp = std::max(1, plan.layout.dp);
    for (int i = 0; i < most / 2 && dp % 2 == 0; ++i)
        dp /= 2;
    const int inside = std::max(1, plan.layout.tp * plan.layout.cp * plan.layout.pp);
    for (int i = 0; i < most && !stop.stop_requested(); ++i, dp *= 2) {
        const Expected<Plan> scaled = with_value(*base, "gpus", inside * dp);
        const Expected<ResolvedPlan> resolved
            = scaled ? resolve(*scaled, presets) : Expected<ResolvedPlan>(scaled.error());
        if (!resolved || !check(*resolved).empty())
            continue;
        const Prediction prediction = predicting(*resolved);
        if (prediction.tps_per_gpu)
            points.push_back({resolved->gpus, *prediction.tps_per_gpu});
    }
    return points;
}

ScalingSeries series_of(const MeasuredTable& table, const TableJob& job)
{
    return {job.name + ", best measured (" + table.name + ")", job.best, true};
}

std::vector<ScalingSeries> scaling_series(const std::vector<ScalingEntry>& entries, const Presets& presets,
    const Predicting& predicting, const std::stop_token& stop)
{
    std::vector<ScalingSeries> series, measured;
    std::map<std::string, ScalingSeries> published; // by the table that the rows are of
    std::size_t lines = 0;
    for (const ScalingEntry& entry : entries) {
        if (!entry.table.empty() && entry.tps_per_gpu) {
            ScalingSeries& rows = published[entry.table];
            rows.name = entry.table + ", published";
            rows.points.emplace_back(entry.plan.gpus, *entry.tps_per_gpu);
            continue;
        }
        if (++lines > kMostLines)
            continue;
        ScalingSeries line{entry.name, {}, false};
        for (const ScalingPoint& point : scaling_of(entry.plan, presets, kPoints, predicting, stop))
            line.points.emplace_back(point.gpus, point.tps_per_gpu);
        if (!line.points.empty())
            series.push_back(std::move(line));
        if (entry.tps_per_gpu)
            measured.push_back({entry.name + ", measured", {{entry.plan.gpus, *entry.tps_per_gpu}}, true});
    }
    series.insert(series.end(), measured.begin(), measured.end());
    for (auto& [table, rows] : published) {
        rows.measured = true;
        std::sort(rows.points.begin(), rows.points.end());
        series.push_back(std::move(rows));
    }
    return series;
}

} // namespace fourfold::view
