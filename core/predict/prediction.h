// SPDX-License-Identifier: GPL-3.0-or-later
// The answer to "does this plan fit, and how fast is it?", with its parts and its derivation.
#pragma once

#include "core/cost/roofline.h"
#include "core/plan/plan.h"
#include "core/program/operation.h"
#include "core/schedule/timeline.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace fourfold {

enum class Fit { fits, tight, no };
template <>
inline constexpr auto kWords<Fit> = std::to_array<std::string_view>({"fits", "tight", "no"});
enum class Evidence { measured, calibrated, extrapolated };
template <>
inline constexpr auto kWords<Evidence> = std::to_array<std::string_view>({"measured", "calibrated", "extrapolated"});

// GiB per GPU of one pipeline stage at the stage's peak.
struct StageMemory {
    int stage = 0;
    double weights = 0, gradients = 0, optimizer = 0, activations = 0, other = 0;
    [[nodiscard]] double total() const { return weights + gradients + optimizer + activations + other; }
};

// Seconds, indexed by Part. Exposed parts add up to the step time.
struct PartTimes {
    std::array<double, kParts> seconds{};
    double& operator[](Part part) { return seconds[static_cast<std::size_t>(part)]; }
    double operator[](Part part) const { return seconds[static_cast<std::size_t>(part)]; }
    [[nodiscard]] double total() const;
};

struct Range {
    double low = 0, high = 0;
};
struct Interval {
    double confidence = 0.9;
    Range step_time_s, tps_per_gpu, memory_gib;
};

// One line of the derivation of the step time: an operation with its price on the reference (slowest) stage.
struct PricedOperation {
    Operation operation;
    double seconds = 0; // one execution
    std::string formula; // "2 m n k / (peak * 0.80 * tile 0.93 * K 0.88) = 3.1 ms"
    std::string source; // what data and constants of the stack the price is made of
};

// The measured row whose layout is nearest to the plan's, of the same job.
struct NearestMeasured {
    std::string source, row;
    int tp = 1, cp = 1, pp = 1, dp = 1, micro_batch = 1;
    bool same = false; // the plan's own layout and work
    std::optional<double> error; // ln(predicted / measured) speed of that layout, where both are known
    bool inside = true; // the range that it would have been given
};

// How the user's own runs of the layout or of its neighbours moved the answer (core/calibration/user/evidence.h).
struct OwnShift {
    int runs = 0; // that were asked
    double share = 0; // of their mean error that was taken over, 0 to 1
    double factor = 1; // of all times, over those that the constants give
};

struct Prediction {
    bool feasible = false;
    Fit fit = Fit::no;
    std::vector<Reason> reasons;
    std::vector<std::string> warnings;
    Evidence evidence = Evidence::extrapolated;
    // Empty where a broken rule keeps it from being computed.
    std::optional<double> step_time_s, tps_per_gpu, tflops_per_gpu, mfu, mfu_bf16_peak, mfu_causal;
    std::optional<Interval> interval;
    std::optional<NearestMeasured> nearest; // where measurements were weighed: core/predict/measured_layouts.h
    std::optional<OwnShift> own_shift; // empty: the times are the model's
    std::optional<double> memory_gib, memory_device_gib;
    double memory_capacity_gib = 0;
    std::vector<StageMemory> memory_by_stage;
    PartTimes time_by_part, time_hidden;
    double bubble_fraction = 0; // of the pipelined part of the step
    Roofline least; // step time that no software can beat
    bool at_least = false; // and that is the answer: what the constants give would be faster
    Timeline timeline;
    std::vector<PricedOperation> operations;
    ResolvedPlan plan;
};

// Never fails: what a broken rule leaves uncomputable is empty and `reasons` says why.
Prediction predict(const ResolvedPlan& plan);

// The contract's `predict --json` object.
Json to_json(const Prediction& prediction);
// Reads back what to_json wrote, without timeline and operations (the history stores predictions in this form).
Expected<Prediction> prediction_from_json(const Json& json, const std::string& where);

} // namespace fourfold
