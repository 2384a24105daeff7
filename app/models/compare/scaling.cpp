// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/compare/scaling.h"

#include "app/view/plan/edits.h"
#include "core/predict/prediction.h"

#include <algorithm>

namespace fourfold::ui {

namespace {
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

std::vector<ScalingPoint> scalingOf(
    const ResolvedPlan& plan, const Presets& presets, int most, const std::stop_token& stop)
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
        const Expected<Plan> scaled = view::with_value(*base, "gpus", inside * dp);
        const Expected<ResolvedPlan> resolved
            = scaled ? resolve(*scaled, presets) : Expected<ResolvedPlan>(scaled.error());
        if (!resolved || !check(*resolved).empty())
            continue;
        const Prediction prediction = predict(*resolved);
        if (prediction.tps_per_gpu)
            points.push_back({resolved->gpus, *prediction.tps_per_gpu});
    }
    return points;
}

} // namespace fourfold::ui
