// SPDX-License-Identifier: GPL-3.0-or-later
// Predictions beside the measured layouts that are near them: with those at hand a prediction may be called "measured".
#pragma once

#include "core/predict/measured_layouts.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace fourfold {

// The plan's job as the measured layout ran it, with everything that follows from its degrees.
ResolvedPlan plan_of_neighbour(const MeasuredLayout& measured, const ResolvedPlan& plan);
// ln(predicted / measured) speed of that; empty where nothing was printed, or nothing is predicted.
std::optional<double> error_of_neighbour(const MeasuredLayout& measured, const ResolvedPlan& plan);

// The rows of `measured` that are asked about a plan, nearest first: the nearest of its job, and neighbours behind it.
struct AskedRow {
    std::size_t row; // of `measured`
    int doublings; // from its degrees to the plan's
    bool is_neighbour;
};
std::vector<AskedRow> rows_to_ask(const ResolvedPlan& plan, std::span<const MeasuredLayout* const> measured);
// Whether what was measured of a row lies inside the range that it would have been given; `error`: of the row, or
// empty.
bool is_inside(const std::optional<double>& error, const MeasuredLayout& measured, const ResolvedPlan& plan);

// Puts the nearest measured row of the job beside the prediction. Calls its evidence "measured" where one is near, the
// stack was fitted on this hardware, and what was measured of the nearest ones lies inside the range that they would
// have been given. What no interval could be given for stays extrapolated: a neighbour does not vouch for another
// regime.
void weigh_measurements(Prediction& prediction, const std::vector<MeasuredLayout>& measured);

} // namespace fourfold
