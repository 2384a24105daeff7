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

std::vector<AskedRow> rows_to_ask(const ResolvedPlan& plan, std::span<const MeasuredLayout* const> measured)
{
    constexpr std::size_t kAsked = 3; // each costs as much as the plan itself
    std::vector<AskedRow> rows;
    for (std::size_t i = 0; i < measured.size(); ++i) {
        const auto apart = is_same_job(*measured[i], plan) ? doublings_apart(*measured[i], plan) : std::nullopt;
        if (apart)
            rows.push_back({i, *apart, is_near(*measured[i], plan)});
    }
    std::stable_sort(rows.begin(), rows.end(), [](const AskedRow& a, const AskedRow& b) {
        return a.doublings != b.doublings ? a.doublings < b.doublings : a.is_neighbour && !b.is_neighbour;
    });
    std::size_t asked = std::min<std::size_t>(rows.size(), 1);
    while (asked < std::min(rows.size(), kAsked) && rows[asked].is_neighbour)
        ++asked;
    rows.resize(asked);
    return rows;
}

bool is_inside(const std::optional<double>& error, const MeasuredLayout& measured, const ResolvedPlan& plan)
{
    return !error || std::abs(*error) <= time_half_width(plan_of_neighbour(measured, plan));
}

void weigh_measurements(Prediction& prediction, const std::vector<MeasuredLayout>& measured)
{
    const ResolvedPlan& plan = prediction.plan;
    std::vector<const MeasuredLayout*> all;
    all.reserve(measured.size());
    for (const MeasuredLayout& layout : measured)
        all.push_back(&layout);
    const std::vector<AskedRow> rows = rows_to_ask(plan, all);
    bool near = false, right = true;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const MeasuredLayout& row = measured[rows[i].row];
        const auto error = error_of_neighbour(row, plan);
        const bool inside = is_inside(error, row, plan);
        if (i == 0)
            prediction.nearest = NearestMeasured{row.source, row.row, row.tp, row.cp, row.pp, row.dp, row.micro_batch,
                rows[i].doublings == 0 && rows[i].is_neighbour, error, inside};
        near = near || rows[i].is_neighbour;
        right = right && (inside || !rows[i].is_neighbour);
    }
    if (near && right && may_be_measured(prediction))
        prediction.evidence = Evidence::measured;
}

} // namespace fourfold
