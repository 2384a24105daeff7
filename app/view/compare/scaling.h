// SPDX-License-Identifier: GPL-3.0-or-later
// One plan on more and fewer GPUs: the same tp, cp and pp, data parallelism takes up the rest (strong scaling); and the
// series of a chart of several, with what was measured.
#pragma once

#include "app/view/compare/published.h"
#include "core/plan/presets.h"
#include "core/predict/prediction.h"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace fourfold::view {

using Predicting = std::function<Prediction(const ResolvedPlan&)>; // on any thread

struct ScalingPoint {
    int gpus = 0;
    double tps_per_gpu = 0;
};
// Counts are multiples of tp * cp * pp by powers of two, at most `most` of them around the plan's own count; those that
// break a rule are left out. DP follows as it does when a user edits the number of GPUs. Ends early when stop is
// requested. Not for the thread that draws.
std::vector<ScalingPoint> scaling_of(const ResolvedPlan& plan, const Presets& presets, int most,
    const Predicting& predicting, const std::stop_token& stop);

// What is compared.
struct ScalingEntry {
    std::string name;
    ResolvedPlan plan;
    std::optional<double> tps_per_gpu; // measured
    std::string table; // of a published row; empty: of none
};
struct ScalingSeries {
    std::string name;
    std::vector<std::pair<double, double>> points; // GPUs, tokens/s per GPU; by GPUs
    bool measured = false; // dots instead of a line
};
// The best that a table measured of a job, over GPUs.
ScalingSeries series_of(const MeasuredTable& table, const TableJob& job);
// A line for each of the first few entries that are no published rows, then what was measured: of runs a dot each, the
// rows of a table together. Ends early, with what there is, when stop is requested.
std::vector<ScalingSeries> scaling_series(const std::vector<ScalingEntry>& entries, const Presets& presets,
    const Predicting& predicting, const std::stop_token& stop);

} // namespace fourfold::view
