// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/neighbours.h"

#include "core/predict/interval.h"
#include "core/search/space.h"

#include <algorithm>
#include <cmath>

namespace fourfold {

ResolvedPlan plan_of_neighbour(const MeasuredLayout& measured, const ResolvedPlan& plan)
{
    SearchSpace space;
    space.orders = {measured.order.value_or(plan.stack.order)};
    Candidate candidate;
    candidate.tp = measured.tp;
    candidate.cp = measured.cp;
    candidate.pp = measured.pp;
    candidate.dp = measured.dp;
    candidate.ep = plan.layout.ep;
    candidate.global_batch = measured.global_batch;
    candidate.micro_batch = std::int16_t(measured.micro_batch);
    candidate.sharding = plan.training.sharding;
    candidate.recompute = plan.training.recompute;
    if (measured.pp > 1) {
        candidate.schedule = plan.training.schedule;
        candidate.virtual_stages = std::int16_t(plan.layout.virtual_stages);
    }
    ResolvedPlan neighbour = plan;
    place(candidate, space, plan, neighbour);
    return neighbour;
}

std::optional<double> error_of_neighbour(const MeasuredLayout& measured, const ResolvedPlan& plan)
{
    const Prediction prediction = predict(plan_of_neighbour(measured, plan));
    if (!(measured.value > 0) || !prediction.step_time_s || !prediction.tps_per_gpu || !prediction.tflops_per_gpu)
        return std::nullopt;
    if (measured.metric == "step_time_s") // of a batch that is known, else it says nothing of the speed
        return measured.global_batch > 0 ? std::optional(std::log(measured.value / *prediction.step_time_s))
                                         : std::nullopt;
    if (measured.metric == "tps_per_gpu")
        return std::log(*prediction.tps_per_gpu / measured.value);
    if (measured.metric == "tflops_per_gpu")
        return std::log(*prediction.tflops_per_gpu / measured.value);
    return std::nullopt;
}

void weigh_measurements(Prediction& prediction, const std::vector<MeasuredLayout>& measured)
{
    constexpr std::size_t kAsked = 3; // each costs as much as the plan itself
    const ResolvedPlan& plan = prediction.plan;
    std::vector<std::pair<int, const MeasuredLayout*>> rows;
    for (const MeasuredLayout& layout : measured) {
        const auto apart = is_same_job(layout, plan) ? doublings_apart(layout, plan) : std::nullopt;
        if (apart)
            rows.emplace_back(2 * *apart + (is_near(layout, plan) ? 0 : 1), &layout);
    }
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    bool near = false, right = true;
    for (std::size_t i = 0; i < std::min(rows.size(), kAsked); ++i) {
        const MeasuredLayout& row = *rows[i].second;
        const bool is_neighbour = is_near(row, plan);
        if (i > 0 && !is_neighbour)
            break;
        const auto error = error_of_neighbour(row, plan);
        const bool inside = !error || std::abs(*error) <= time_half_width(plan_of_neighbour(row, plan));
        if (i == 0)
            prediction.nearest = NearestMeasured{row.source, row.row, row.tp, row.cp, row.pp, row.dp, row.micro_batch,
                rows[i].first == 0, error, inside};
        near = near || is_neighbour;
        right = right && (inside || !is_neighbour);
    }
    if (near && right && may_be_measured(prediction))
        prediction.evidence = Evidence::measured;
}

} // namespace fourfold
