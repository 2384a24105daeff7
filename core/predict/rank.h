// SPDX-License-Identifier: GPL-3.0-or-later
// Which of several layouts comes first: the fastest, where one that may well not fit counts for what it is expected to
// yield; layouts closer together than the model can tell apart are ties, of which the one with less memory comes first.
#pragma once

#include "core/predict/prediction.h"

#include <cstddef>
#include <vector>

namespace fourfold {

// Probability that a layout needs more than the GPU has. Its memory is taken as log-normal around `device_gib`;
// `half_width` is that of the 90 % interval, as a natural logarithm (the stack's interval_device_memory). 0.5 at the
// capacity itself; 1 where nothing is known of the capacity or the memory is no finite number.
double risk_of_not_fitting(double device_gib, double capacity_gib, double half_width);
double risk_of_not_fitting(const Prediction& prediction); // 1 where the memory is not known

// A layout above this risk is marked: it may well not fit. Below it a layout ranks by its speed alone: that it does not
// fit shows in the first minutes of a run, while a slower one costs all of it. The value was chosen with the published
// tables in sight (resources/reports/validation.md).
inline constexpr double kMarkedRisk = 0.25;
// Share of its yield that a layout is expected to bring: 1 - risk where it is marked, else 1.
double expected_share(double risk);
// Share of its prediction that a pick is expected to bring whose own error has this standard deviation (of its
// logarithm), beyond what all layouts of the job share. The best of many predictions is likely one that was predicted
// too fast, the more so the less is known of it: a normal prior over layouts, of which the first ones stand well above
// the mean, draws them back.
double expected_of_pick(double deviation);
// By how much the first may lose to another: their true yields differ by less with 90 % confidence. `ratio`: expected
// yield of the other over that of the first; `deviation`: of the logarithm of their ratio. 0 at least.
double may_lose(double ratio, double deviation);
// How far apart predictions of two layouts of one job must be for the order to be better than a coin's: below it the
// one predicted to be faster is the faster one with less than 55 % probability. `spread`: standard deviation of the
// error of ln(a / b); the second gives it back.
double tie_width(double spread);
double spread_of_ties(double tie_width);
// Layouts whose predictions differ by less than this share are ties, where the stack does not say (its `tie_width`).
inline constexpr double kTieShare = 0.01;

struct RankCandidate {
    double yield = 0; // more is better: tokens/s per GPU, or 1 / step time; not finite or below 0 counts as 0
    double risk = 0; // of not fitting, 0 to 1
    double memory_gib = 0; // device memory; decides between ties
    bool feasible = true; // those that break a rule or do not fit stand behind all others
};

struct RankedCandidate {
    std::size_t index = 0; // into the candidates
    int place = 1; // counted from 1; ties share a place (1, 1, 3)
    double expected = 0; // yield * expected_share(risk): a run that does not fit yields nothing
    bool at_risk = false; // risk above kMarkedRisk
};

// Best first. Every group of ties is led by its highest expected yield: a candidate within `tie_share` of the leader
// belongs to it, so that a chain of small differences does not make one large tie. The order is total and does not
// depend on the order of the candidates, but for those that are equal in everything (kept in their order).
std::vector<RankedCandidate> rank_candidates(
    const std::vector<RankCandidate>& candidates, double tie_share = kTieShare);

} // namespace fourfold
