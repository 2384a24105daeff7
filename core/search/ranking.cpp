// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/ranking.h"
#include "core/plan/plan_constants.h"

#include "core/predict/interval.h"
#include "core/predict/rank.h"
#include "core/stack/constants.h"

#include <algorithm>
#include <cmath>

namespace fourfold {

FoundRanking::FoundRanking(const SearchRequest& request)
    : request_(&request)
    , objective_(&request.objective)
    , weighs_(request.objective.monotone)
    , capacity_gib_(request.plan.cluster.gpu.memory_gib)
{
    const Constants constants = constants_of(request.plan);
    half_width_ = constants[Constant::interval_device_memory];
    tie_share_ = constants[Constant::tie_width];
    constexpr double kSixDeviations = 6 / kHalfOf90; // in half-widths: a risk of 1e-9
    surely_fits_gib_ = capacity_gib_ * std::exp(-kSixDeviations * half_width_);
}

void FoundRanking::weigh(FoundLayout& found) const
{
    const double memory = found.figures.memory_device_gib;
    found.risk = memory < surely_fits_gib_ ? 0 : risk_of_not_fitting(memory, capacity_gib_, half_width_);
    const double share = weighs_ ? expected_share(found.risk) : 1;
    found.weighed = objective_->maximize ? found.objective * share : found.objective / share;
}

bool FoundRanking::before(const FoundLayout& a, const FoundLayout& b) const
{
    if (objective_->better(a.weighed, b.weighed))
        return true;
    if (objective_->better(b.weighed, a.weighed))
        return false;
    if (a.figures.memory_device_gib != b.figures.memory_device_gib)
        return a.figures.memory_device_gib < b.figures.memory_device_gib;
    return a.candidate < b.candidate;
}

std::size_t FoundRanking::held() const
{
    constexpr int kBehind = 3;
    const int top = std::max(0, request_->top);
    return std::size_t(request_->expected && weighs_ ? std::max(top, std::min(top * kBehind, top + 100)) : top);
}

double FoundRanking::yield(const FoundLayout& found) const
{
    const double bare = objective_->maximize ? found.objective : 1 / found.objective;
    return request_->expected ? bare * expected_of_pick(deviation(found)) : bare;
}

double FoundRanking::deviation(const FoundLayout& found) const
{
    const double share = capacity_gib_ > 0 ? found.figures.memory_device_gib / capacity_gib_ : 0;
    return unmeasured_deviation(plan_of(found, *request_), share);
}

void FoundRanking::place_ties(std::vector<FoundLayout>& best) const
{
    for (std::size_t i = 0; i < best.size(); ++i)
        best[i].place = int(i) + 1;
    if (!weighs_)
        return;
    std::vector<RankCandidate> candidates;
    for (const FoundLayout& found : best)
        candidates.push_back({yield(found), found.risk, found.figures.memory_device_gib, true});
    std::vector<FoundLayout> placed;
    const double all = spread_of_ties(tie_share_);
    for (const RankedCandidate& entry : rank_candidates(candidates, tie_share_)) {
        placed.push_back(best[entry.index]);
        placed.back().place = entry.place;
        if (placed.size() > 1) {
            const double own = added_in_squares(deviation(placed.front()), deviation(placed.back()));
            placed.back().may_beat_first
                = may_lose(yield(placed.back()) / yield(placed.front()), added_in_squares(all, own));
        }
        if (placed.size() == std::size_t(std::max(0, request_->top)))
            break;
    }
    best = std::move(placed);
}

} // namespace fourfold
