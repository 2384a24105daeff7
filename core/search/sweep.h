// SPDX-License-Identifier: GPL-3.0-or-later
// Layouts x numbers of GPUs, each cell predicted: the form in which layouts are usually published.
#pragma once

#include "core/predict/prediction.h"

#include <compare>
#include <functional>
#include <stop_token>

namespace fourfold {

// One row of the grid; dp is what the GPUs leave.
struct GridLayout {
    int tp = 1, cp = 1, pp = 1, micro_batch = 1, virtual_stages = 1;
    auto operator<=>(const GridLayout&) const = default;
};

enum class GridStatus {
    runs, // keeps the rules and fits
    does_not_fit, // figures are known all the same
    impossible, // breaks a rule: no figures
};
template <>
inline constexpr auto kWords<GridStatus> = std::to_array<std::string_view>({"runs", "does_not_fit", "impossible"});

// What a grid shows.
enum class GridValue { tps_per_gpu, tflops_per_gpu, mfu, memory_gib, step_time_s };
template <>
inline constexpr auto kWords<GridValue> = std::to_array<std::string_view>(
    {"tps_per_gpu", "tflops_per_gpu", "mfu", "memory_gib", "step_time_s"});
// Empty where not known.
struct GridFigures {
    std::optional<double> step_time_s, tps_per_gpu, tflops_per_gpu, mfu, memory_gib;
    [[nodiscard]] std::optional<double> get(GridValue value) const;
};

struct GridCell : GridFigures {
    GridStatus status = GridStatus::impossible;
    Fit fit = Fit::no;
    Evidence evidence = Evidence::extrapolated;
    Reason reason; // of what does not run
    std::optional<double> memory_device_gib;
    std::optional<Interval> interval;
};

struct LayoutGrid {
    std::vector<GridLayout> layouts;
    std::vector<int> gpus;
    std::vector<std::vector<GridCell>> cells; // [layout][gpus]
    bool cancelled = false; // cells that were not reached are impossible, with an empty reason
};

// Of a cell that runs; empty otherwise.
std::optional<double> value_of(const GridCell& cell, GridValue value);

// The plan of a cell: model, cluster, batch, sharding, recomputation and order of `base`; more than one virtual stage
// is an interleaved schedule unless `base` has one that takes them. Fails where the layout does not divide the GPUs.
Expected<ResolvedPlan> plan_of_cell(const ResolvedPlan& base, const GridLayout& layout, int gpus);

// `done`: called from worker threads, one call at a time, after each cell. threads 0: one a core. `predicting` is
// called on them as well.
LayoutGrid sweep_layouts(const ResolvedPlan& base, std::vector<GridLayout> layouts, std::vector<int> gpus,
    int threads = 0, const std::function<void(std::size_t layout, std::size_t gpus, const GridCell&)>& done = {},
    std::stop_token stop = {}, const std::function<Prediction(const ResolvedPlan&)>& predicting = predict);

} // namespace fourfold
