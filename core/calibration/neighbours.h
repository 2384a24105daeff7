// SPDX-License-Identifier: GPL-3.0-or-later
// Predictions beside the measured layouts that are near them: with those at hand a prediction may be called "measured".
#pragma once

#include "core/predict/measured_layouts.h"

#include <optional>
#include <vector>

namespace fourfold {

// The plan's job as the measured layout ran it, with everything that follows from its degrees.
ResolvedPlan plan_of_neighbour(const MeasuredLayout& measured, const ResolvedPlan& plan);
// ln(predicted / measured) speed of that; empty where nothing was printed, or nothing is predicted.
std::optional<double> error_of_neighbour(const MeasuredLayout& measured, const ResolvedPlan& plan);

// Puts the nearest measured row of the job beside the prediction. Calls its evidence "measured" where one is near, the
// stack was fitted on this hardware, and what was measured of the nearest ones lies inside the range that they would
// have been given. What no interval could be given for stays extrapolated: a neighbour does not vouch for another
// regime.
void weigh_measurements(Prediction& prediction, const std::vector<MeasuredLayout>& measured);

} // namespace fourfold
