// SPDX-License-Identifier: GPL-3.0-or-later
// How much a prediction can be trusted: evidence, the width of its interval, and regimes without measurements.
#pragma once

#include "core/predict/prediction.h"

#include <cmath>
#include <string_view>
#include <vector>

namespace fourfold {

// Of independent half-widths. Not std::hypot: the trainer has this code too, and that asks nodes for glibc 2.35.
inline double added_in_squares(double a, double b, double c = 0)
{
    return std::sqrt(a * a + b * b + c * c);
}

// The errors of published runs grow with the number of GPUs; one width for all would cover neither end.
enum class Band { node, tens, hundreds };
template <>
inline constexpr auto kWords<Band> = std::to_array<std::string_view>(
    {"up to 8 GPUs", "up to 64 GPUs", "more than 64 GPUs"});
Band band_of(int gpus);

// The regimes that a plan is in; `memory_share`: predicted device memory over the GPU's.
std::vector<Regime> regimes_of(const ResolvedPlan& plan, double memory_share);

// `calibrated` where the stack's constants were fitted on this GPU and the plan is in no regime that those measurements
// lack, else `extrapolated`. (`measured` needs measurements at hand: core/predict/measured_layouts.h.)
Evidence evidence_for(const ResolvedPlan& plan, double memory_share = 0);

// Half of the 90 % interval of a normal distribution, in standard deviations.
inline constexpr double kHalfOf90 = 1.6449;

// Half-width of ln(predicted / measured) that holds 90 % of measurements that had no part in it: that of the stack on
// this GPU by the number of GPUs, and in squares what each step away from its measurements adds: another site, GPU or
// release, another generation of GPUs, a software or kernel that was never measured, experts, sizes beyond the measured
// ones. All of them are widths of left-out errors (core/calibration/confidence.h).
double time_half_width(const ResolvedPlan& plan);
// How much of what measurements ask for is more than their scatter: nothing below a threshold, then the share that the
// positive-part estimator of James and Stein (1961) leaves. `squares`: of their errors over the scatter, which add up,
// so that many measurements are believed whole. 0 to 1.
double share_beyond_scatter(double squares);
double memory_half_width(const ResolvedPlan& plan);
// Whether memory was measured with the plan's stack on its GPU; else its range is an estimate.
bool memory_was_measured(const ResolvedPlan& plan);

// Standard deviation of ln(predicted / measured) that a layout has of its own, beyond that of its whole job: in regimes
// that were never measured with the plan's stack on its GPU.
double unmeasured_deviation(const ResolvedPlan& plan, double memory_share = 0);

// Share of the dense peak, attention counted half, above which no published run lies.
inline constexpr double kMostUtilisation = 0.75;
// Neither the roofline itself nor above kMostUtilisation: such an answer is never more than extrapolated.
bool is_plausible(const Prediction& prediction);

// Fills evidence, interval and the warnings about regimes of a prediction whose other figures stand. In some regimes
// nobody knows how wrong the model is where they were never measured: there the interval stays empty.
void add_confidence(Prediction& prediction);

// Settings that the model knows only from few or no measurements, and those that it leaves out.
std::vector<std::string> regime_warnings(const ResolvedPlan& plan, double memory_share = 0);

} // namespace fourfold
