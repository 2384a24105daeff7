// SPDX-License-Identifier: GPL-3.0-or-later
// How much a prediction can be trusted: evidence, the width of its interval, and regimes without measurements.
#pragma once

#include "core/predict/prediction.h"

namespace fourfold {

// `calibrated` where the stack's constants were fitted on this GPU, else `extrapolated`. (`measured` needs the
// history.)
Evidence evidence_for(const ResolvedPlan& plan);

// Half-width of ln(predicted / measured) that holds 90 % of left-out measurements, by GPU count: up to 8, up to 64,
// more. The errors of published runs grow with the number of GPUs; one width for all would cover neither.
double time_half_width(const ResolvedPlan& plan);
Interval interval_of(const ResolvedPlan& plan, double step_time_s, double tps_per_gpu, double memory_gib);

// Settings that the model knows only from few or no measurements, and those that it leaves out.
std::vector<std::string> regime_warnings(const ResolvedPlan& plan);

} // namespace fourfold
