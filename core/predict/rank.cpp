// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/rank.h"
#include "core/plan/plan_constants.h"
#include "core/predict/interval.h"
#include "core/stack/constants.h"

#include <algorithm>
#include <cmath>

namespace fourfold {

double risk_of_not_fitting(double device_gib, double capacity_gib, double half_width)
{
    if (!(capacity_gib > 0) || !std::isfinite(device_gib))
        return 1;
    if (device_gib <= 0)
        return 0;
    const double deviation = std::max(half_width, 1e-6) / kHalfOf90;
    const double room = std::log(capacity_gib / device_gib) / deviation;
    return 0.5 * std::erfc(room / std::sqrt(2.0));
}

double risk_of_not_fitting(const Prediction& prediction)
{
    if (!prediction.memory_device_gib)
        return 1;
    const ResolvedPlan& plan = prediction.plan;
    const Constants constants = constants_of(plan);
    return risk_of_not_fitting(
        *prediction.memory_device_gib, prediction.memory_capacity_gib, constants[Constant::interval_device_memory]);
}

double expected_share(double risk)
{
    return risk > kMarkedRisk ? 1 - risk : 1;
}

double expected_of_pick(double deviation)
{
    constexpr double kSpread = 0.25; // of ln(yield) over the layouts of a job that fit
    constexpr double kAbove = 1.5; // spreads by which the first picks stand above the mean
    const double own = deviation * deviation;
    return std::exp(-kAbove * kSpread * own / (kSpread * kSpread + own));
}

namespace {
constexpr double kOdds = 0.1257; // of the normal distribution: 55 % lie below so many standard deviations
}

double tie_width(double spread)
{
    return kOdds * spread;
}

double spread_of_ties(double tie_width)
{
    return tie_width / kOdds;
}

double may_lose(double ratio, double deviation)
{
    constexpr double kOneSide90 = 1.2816;
    return ratio > 0 ? std::max(0.0, ratio * std::exp(kOneSide90 * deviation) - 1) : 0;
}

std::vector<RankedCandidate> rank_candidates(const std::vector<RankCandidate>& candidates, double tie_share)
{
    std::vector<RankedCandidate> ranked;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const RankCandidate& candidate = candidates[i];
        const double risk = std::isfinite(candidate.risk) ? std::clamp(candidate.risk, 0.0, 1.0) : 1.0;
        const double yield = std::isfinite(candidate.yield) ? std::max(candidate.yield, 0.0) : 0.0;
        ranked.push_back({i, 1, yield * expected_share(risk), risk > kMarkedRisk});
    }
    const auto feasible = [&](const RankedCandidate& entry) { return candidates[entry.index].feasible; };
    const auto memory = [&](const RankedCandidate& entry) { return candidates[entry.index].memory_gib; };
    std::stable_sort(ranked.begin(), ranked.end(), [&](const RankedCandidate& a, const RankedCandidate& b) {
        if (feasible(a) != feasible(b))
            return feasible(a);
        return a.expected != b.expected ? a.expected > b.expected : memory(a) < memory(b);
    });
    for (auto leader = ranked.begin(); leader != ranked.end();) {
        const double least = leader->expected * (1 - tie_share);
        const auto end = std::find_if(leader, ranked.end(), [&](const RankedCandidate& entry) {
            return entry.expected < least || feasible(entry) != feasible(*leader);
        });
        const int place = int(leader - ranked.begin()) + 1;
        std::stable_sort(leader, end, [&](const RankedCandidate& a, const RankedCandidate& b) {
            return a.at_risk != b.at_risk ? b.at_risk : memory(a) < memory(b);
        });
        for (; leader != end; ++leader)
            leader->place = place;
    }
    return ranked;
}

} // namespace fourfold
