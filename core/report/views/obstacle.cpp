// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/views/obstacle.h"

#include "core/base/text.h"
#include "core/report/table/table.h"
#include "core/search/refused.h"

#include <cmath>
#include <sstream>

namespace fourfold {
namespace {

std::string layout_words(const Candidate& candidate)
{
    std::ostringstream out;
    out << "tp " << candidate.tp << ", cp " << candidate.cp << ", pp " << candidate.pp << ", dp " << candidate.dp
        << ", micro-batch " << candidate.micro_batch << ", "
        << (candidate.sharding == Sharding::none ? "no" : to_text(candidate.sharding)) << " sharding, "
        << (candidate.recompute == Recompute::none ? "no" : to_text(candidate.recompute)) << " recomputation";
    return out.str();
}

std::string layouts(std::int64_t count)
{
    return shown_number(double(count), 0) + (count == 1 ? " layout" : " layouts");
}

Problem problem(std::string message, std::string hint)
{
    return {ProblemCode::failed, std::move(message), std::move(hint), ""};
}

Problem unmet(const ConstraintOutcome& constraint)
{
    const double miss = constraint.nearest_miss;
    const std::string nearest = constraint.nearest
        ? "the nearest misses by " + shown_number(miss, miss < 10 && miss != std::floor(miss) ? 2 : 0) + ": "
            + layout_words(*constraint.nearest)
        : "it has no value for any of them, as a division by 0 has none";
    return problem(
        "no layout: the constraint " + in_quotes(constraint.text) + " holds for none of " + layouts(constraint.judged),
        nearest);
}

Problem unfit(const SearchRequest& request, const SearchResult& result)
{
    const FoundLayout& smallest = *result.smallest_unfit;
    return problem("none of " + layouts(result.counts.does_not_fit) + " that keep the rules fits into "
            + shown_number(request.plan.cluster.gpu.memory_gib, 1) + " GiB",
        "the smallest needs " + shown_number(smallest.figures.memory_device_gib, 1)
            + " GiB: " + layout_words(smallest.candidate));
}

Problem refused(const SearchRequest& request, const SearchResult& result)
{
    std::string why;
    for (const Rejection& rejection : result.rejections)
        why = rejection.code == kStackStops ? rejection.example : why;
    return problem(
        request.plan.stack.name + " would stop at every one of " + layouts(result.counts.refused) + " that fit", why);
}

// Each constraint is met by some layout, no layout meets all of them.
Problem at_odds(const SearchResult& result)
{
    std::string shares;
    for (const ConstraintOutcome& constraint : result.constraints)
        shares += (shares.empty() ? "" : ", ") + in_quotes(constraint.text) + " holds for "
            + shown_number(double(constraint.held), 0) + " of " + shown_number(double(constraint.judged), 0);
    return problem("no layout meets all constraints together, though each alone is met by some", shares);
}

} // namespace

Problem obstacle(const SearchRequest& request, const SearchResult& result)
{
    const SearchCounts& counts = result.counts;
    if (counts.enumerated == 0)
        return problem("no combination of the axes makes a layout of " + std::to_string(request.space.gpus.front())
                + (request.space.gpus.size() > 1 ? " or more GPUs" : " GPUs"),
            "widen the axes or the batch tolerance");
    for (const ConstraintOutcome& constraint : result.constraints) {
        if (constraint.judged > 0 && constraint.held == 0)
            return unmet(constraint);
    }
    if (counts.evaluated > 0)
        return problem("no layout: the objective " + in_quotes(request.objective.expression.text())
                + " has no value for any of " + layouts(counts.evaluated),
            "a division by 0 has none");
    if (counts.refused > 0 && counts.constrained == 0)
        return refused(request, result);
    if (result.smallest_unfit)
        return unfit(request, result);
    if (counts.constrained > 0)
        return at_odds(result);
    return problem("every one of " + layouts(counts.enumerated) + " breaks a rule",
        result.rejections.empty() ? "" : "most often: " + result.rejections.front().example);
}

} // namespace fourfold
