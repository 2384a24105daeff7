// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/cures.h"

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
    const LayoutFigures figures{prediction.step_time_s.value_or(0), prediction.memory_gib.value_or(0),
        prediction.memory_device_gib.value_or(0), prediction.fit};
    fill_figures(values, prediction.plan, figures, request.budget);
    return std::all_of(request.constraints.begin(), request.constraints.end(),
        [&](const Expression& constraint) { return constraint.holds(values); });
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
    const auto relaxed = changes.empty() ? without_the_unmet(request, result) : std::nullopt;
    if (!relaxed)
        return changes;
    const SearchResult found = search(*relaxed);
    return found.best.empty() ? changes : from(plan_of(found.best.front(), *relaxed));
}

} // namespace fourfold
