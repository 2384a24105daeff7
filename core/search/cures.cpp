// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/cures.h"

#include "core/search/evaluator.h"
#include "core/search/refused.h"

#include <algorithm>

namespace fourfold {
namespace {

std::optional<ResolvedPlan> nearest_plan(const SearchRequest& request, const SearchResult& result)
{
    for (const ConstraintOutcome& constraint : result.constraints) {
        if (constraint.held == 0 && constraint.nearest)
            return plan_of({*constraint.nearest}, request);
    }
    if (result.smallest_unfit)
        return plan_of(*result.smallest_unfit, request);
    return std::nullopt;
}

// The same search without the constraints that no layout met.
std::optional<SearchRequest> without_the_unmet(const SearchRequest& request, const SearchResult& result)
{
    SearchRequest relaxed = request;
    relaxed.top = 1;
    relaxed.constraints.clear();
    for (std::size_t i = 0; i < request.constraints.size() && i < result.constraints.size(); ++i) {
        if (result.constraints[i].held > 0 || result.constraints[i].judged == 0)
            relaxed.constraints.push_back(request.constraints[i]);
    }
    if (relaxed.constraints.size() == request.constraints.size())
        return std::nullopt;
    return relaxed;
}

bool is_a_result(const SearchRequest& request, const StackRefusals& refusals, const Prediction& prediction)
{
    if (request.hides_refused && refusals.refuses(prediction.plan))
        return false;
    PlanValues values{};
    fill_layout(values, prediction.plan);
    fill_figures(values, prediction.plan, figures_of(prediction), request.budget);
    return std::all_of(request.constraints.begin(), request.constraints.end(),
        [&](const Expression& constraint) { return constraint.holds(values); });
}

// The best layout on another number of GPUs: halved again and again where a constraint stood in the way, then doubled.
std::vector<Advice> other_gpus(
    const SearchRequest& request, const SearchResult& result, const ResolvedPlan& nearest, const std::stop_token& stop)
{
    constexpr int kMostTimes = 64;
    std::vector<int> counts;
    if (!result.smallest_unfit)
        for (int gpus = nearest.gpus / 2; gpus >= 1; gpus /= 2)
            counts.push_back(gpus);
    for (int times = 2; times <= kMostTimes; times *= 2)
        counts.push_back(nearest.gpus * times);
    const Prediction now = predict(nearest);
    SearchRequest other = request;
    other.top = 1;
    for (const int gpus : counts) {
        if (stop.stop_requested())
            break;
        other.space.gpus = {gpus};
        const SearchResult found = search(other, {}, stop);
        if (found.best.empty())
            continue;
        const ResolvedPlan plan = plan_of(found.best.front(), other);
        const PlanEdit edit{"gpus", EditClass::gpus, edit_summary(nearest, plan), changed_fields(nearest, plan), plan};
        const std::optional<Advice> advice = judge(edit, now);
        return advice ? std::vector<Advice>{*advice} : std::vector<Advice>();
    }
    return {};
}

// The best layout of a search that found nothing, were its constraints fewer.
std::optional<ResolvedPlan> best_of(const SearchRequest& relaxed, const std::stop_token& stop)
{
    const SearchResult found = search(relaxed, {}, stop);
    return found.best.empty() ? std::nullopt : std::optional(plan_of(found.best.front(), relaxed));
}

// The best layouts without one of the constraints, for each of them in turn; where that leaves any.
std::vector<ResolvedPlan> without_one(const SearchRequest& request, const std::stop_token& stop)
{
    std::vector<ResolvedPlan> plans;
    for (std::size_t i = 0; request.constraints.size() > 1 && i < request.constraints.size(); ++i) {
        SearchRequest relaxed = request;
        relaxed.top = 1;
        relaxed.constraints.erase(relaxed.constraints.begin() + std::ptrdiff_t(i));
        if (const auto plan = best_of(relaxed, stop))
            plans.push_back(*plan);
    }
    return plans;
}

} // namespace

std::vector<Advice> cures(const SearchRequest& request, const SearchResult& result, int most, std::stop_token stop)
{
    if (!result.best.empty())
        return {};
    const StackRefusals refusals(request.plan);
    const auto from = [&](const ResolvedPlan& plan) {
        AdviceRequest advice;
        advice.plan = plan;
        advice.most = most;
        advice.threads = request.threads;
        advice.faster = false;
        advice.also = [&](const Prediction& prediction) { return is_a_result(request, refusals, prediction); };
        return advise(advice, stop).to_fit;
    };
    const auto nearest = nearest_plan(request, result);
    std::vector<Advice> changes = nearest ? from(*nearest) : std::vector<Advice>();
    if (!changes.empty())
        return changes;
    if (const auto relaxed = without_the_unmet(request, result)) {
        if (const auto plan = best_of(*relaxed, stop))
            changes = from(*plan);
        if (!changes.empty())
            return changes;
    }
    if (nearest)
        return other_gpus(request, result, *nearest, stop);
    const std::vector<ResolvedPlan> plans = without_one(request, stop);
    for (const ResolvedPlan& plan : plans) {
        for (Advice& change : from(plan)) {
            if (int(changes.size()) < most)
                changes.push_back(std::move(change));
        }
    }
    return changes.empty() && !plans.empty() ? other_gpus(request, result, plans.front(), stop) : changes;
}

} // namespace fourfold
