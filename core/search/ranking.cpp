// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/ranking.h"
#include "core/plan/plan_constants.h"

#include "core/predict/interval.h"
#include "core/predict/rank.h"
#include "core/stack/constants.h"

#include <cmath>

namespace fourfold {

FoundRanking::FoundRanking(const SearchRequest& request)
    : objective_(&request.objective)
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

void FoundRanking::place_ties(std::vector<FoundLayout>& best) const
{
    for (std::size_t i = 0; i < best.size(); ++i)
        best[i].place = int(i) + 1;
    if (!weighs_)
        return;
    std::vector<RankCandidate> candidates;
    for (const FoundLayout& found : best)
        candidates.push_back({objective_->maximize ? found.objective : 1 / found.objective, found.risk,
            found.figures.memory_device_gib, true});
    std::vector<FoundLayout> placed;
    for (const RankedCandidate& entry : rank_candidates(candidates, tie_share_)) {
        placed.push_back(best[entry.index]);
        placed.back().place = entry.place;
    }
    best = std::move(placed);
}

} // namespace fourfold
