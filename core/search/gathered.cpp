// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/gathered.h"

#include "core/search/refused.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fourfold {
namespace {

// What check() says of a layout that broke a rule, and what makes the software stop at one.
std::string message_of(const std::string& code, const Candidate& candidate, const SearchRequest& request)
{
    if (code == kStackStops)
        return StackRefusals(request.plan).why(plan_of({candidate}, request));
    for (const Reason& reason : check(plan_of({candidate}, request))) {
        if (reason.code == code)
            return reason.message;
    }
    return "";
}

} // namespace

WatchedConstraint::WatchedConstraint(const Expression& of)
    : expression(&of)
    , layout_only(needs_only_layout(of))
    , nearest_miss(std::numeric_limits<double>::infinity())
{
}

bool WatchedConstraint::holds(const PlanValues& values, const Candidate& candidate)
{
    ++judged;
    const double miss = expression->miss(values);
    if (miss == 0)
        ++held;
    else if (held == 0)
        keep_nearest(miss, candidate);
    return miss == 0;
}

void WatchedConstraint::count(bool holding)
{
    ++judged;
    held += holding ? 1 : 0;
}

bool WatchedConstraint::may_be_nearest(double least_miss, const Candidate& candidate) const
{
    return held == 0 && (least_miss < nearest_miss || (least_miss == nearest_miss && candidate < nearest));
}

void WatchedConstraint::keep_nearest(double miss, const Candidate& candidate)
{
    if (miss > nearest_miss || (miss == nearest_miss && nearest < candidate))
        return;
    nearest_miss = miss;
    nearest = candidate;
}

void WatchedConstraint::merge(const WatchedConstraint& other)
{
    judged += other.judged;
    held += other.held;
    keep_nearest(other.nearest_miss, other.nearest);
}

Gathered::Gathered(const SearchRequest& request)
    : request_(&request)
    , ranking_(request)
{
    for (const Expression& expression : request.constraints)
        constraints.emplace_back(expression);
}

void Gathered::keep(const FoundLayout& found)
{
    pareto_.add(found);
    if (!std::isnan(found.objective)) // what has no value is no answer
        keep_best(found);
}

void Gathered::keep_best(const FoundLayout& found)
{
    const std::size_t limit = ranking_.held();
    if (best_.size() >= limit && (limit == 0 || !ranking_.before(found, best_.back())))
        return;
    const auto place = std::upper_bound(best_.begin(), best_.end(), found,
        [&](const FoundLayout& a, const FoundLayout& b) { return ranking_.before(a, b); });
    if (place != best_.begin() && std::prev(place)->candidate == found.candidate)
        return; // two parts of a search may know the same layout
    best_.insert(place, found);
    if (best_.size() > limit)
        best_.pop_back();
}

bool Gathered::may_matter(const FoundLayout& at_best) const
{
    const Objective& objective = request_->objective;
    const std::size_t limit = ranking_.held();
    const bool full = best_.size() >= limit && limit > 0;
    const bool among_best = limit > 0 && (!full || !objective.better(best_.back().weighed, at_best.weighed));
    return among_best
        || !pareto_.covers(at_best.candidate.gpus(), at_best.figures.memory_device_gib, at_best.seconds_per_sequence);
}

void Gathered::keep_smallest(const FoundLayout& unfit)
{
    const auto key
        = [](const FoundLayout& found) { return std::pair(found.figures.memory_device_gib, found.candidate); };
    if (!smallest_unfit_ || key(unfit) < key(*smallest_unfit_))
        smallest_unfit_ = unfit;
}

void Gathered::merge(const Gathered& other)
{
    for (const FoundLayout& found : other.best_)
        keep_best(found);
    pareto_.merge(other.pareto_);
    counts += other.counts;
    if (other.smallest_unfit_)
        keep_smallest(*other.smallest_unfit_);
    for (const Left& left : other.left_)
        add(left.reason, left.first, left.count);
    for (std::size_t i = 0; i < constraints.size(); ++i)
        constraints[i].merge(other.constraints[i]);
}

void Gathered::start_from(const Gathered& other)
{
    *this = Gathered(*request_);
    best_ = other.best_;
    pareto_ = other.pareto_;
}

void Gathered::add(std::string_view reason, const Candidate& first, std::int64_t count)
{
    for (Left& known : left_) {
        if (known.met_at == reason.data() || known.reason == reason) {
            known.met_at = reason.data();
            known.first = std::min(known.first, first);
            known.count += count;
            return;
        }
    }
    left_.push_back({std::string(reason), first, count, reason.data()});
}

SearchResult Gathered::result() const
{
    SearchResult result;
    result.best = best_;
    ranking_.place_ties(result.best);
    result.pareto = pareto_.sorted();
    result.counts = counts;
    result.smallest_unfit = smallest_unfit_;
    for (const Left& left : left_)
        result.rejections.push_back({left.reason, message_of(left.reason, left.first, *request_), left.count});
    std::stable_sort(result.rejections.begin(), result.rejections.end(), [](const Rejection& a, const Rejection& b) {
        return a.count != b.count ? a.count > b.count : a.code < b.code;
    });
    for (const WatchedConstraint& constraint : constraints) {
        const bool never = constraint.held == 0 && std::isfinite(constraint.nearest_miss);
        result.constraints.push_back({constraint.expression->text(), constraint.judged, constraint.held,
            never ? constraint.nearest_miss : 0, never ? std::optional(constraint.nearest) : std::nullopt});
    }
    return result;
}

} // namespace fourfold
