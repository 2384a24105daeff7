// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/cures.h"

#include "core/search/evaluator.h"

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

bool meets_constraints(const SearchRequest& request, const Prediction& prediction)
{
    PlanValues values{};
    fill_layout(values, prediction.plan);
    fill_figures(values, prediction.plan, figures_of(prediction), request.budget);
    return std::all_of(request.constraints.begin(), request.constraints.end(),
        [&](const Expression& constraint) { return constraint.holds(values); });
}

// The best layout on the least number of GPUs, doubled again and again, on which one is found.
std::vector<Advice> more_gpus(const SearchRequest& request, const ResolvedPlan& nearest)
{
    constexpr int kMostTimes = 64;
    const Prediction now = predict(nearest);
    SearchRequest wider = request;
    wider.top = 1;
    for (int times = 2; times <= kMostTimes; times *= 2) {
        wider.space.gpus = {nearest.gpus * times};
        const SearchResult found = search(wider);
        if (found.best.empty())
            continue;
        const ResolvedPlan plan = plan_of(found.best.front(), wider);
        const PlanEdit edit{"gpus", EditClass::gpus, edit_summary(nearest, plan), changed_fields(nearest, plan), plan};
        const std::optional<Advice> advice = judge(edit, now);
        return advice ? std::vector<Advice>{*advice} : std::vector<Advice>();
    }
    return {};
}

} // namespace

std::vector<Advice> cures(const SearchRequest& request, const SearchResult& result, int most)
{
    if (!result.best.empty())
        return {};
    const auto from = [&](const ResolvedPlan& plan) {
        AdviceRequest advice{plan, most, request.threads};
        advice.faster = false;
        advice.also = [&](const Prediction& prediction) { return meets_constraints(request, prediction); };
        return advise(advice).to_fit;
    };
    const auto nearest = nearest_plan(request, result);
    std::vector<Advice> changes = nearest ? from(*nearest) : std::vector<Advice>();
    if (!changes.empty())
        return changes;
    if (const auto relaxed = without_the_unmet(request, result)) {
        const SearchResult found = search(*relaxed);
        return found.best.empty() ? changes : from(plan_of(found.best.front(), *relaxed));
    }
    return nearest ? more_gpus(request, *nearest) : changes;
}

} // namespace fourfold
