// SPDX-License-Identifier: GPL-3.0-or-later
// Does it fit? Memory per stage in the stack's own convention, and the verdict.
#pragma once

#include "core/plan/plan_schedule.h"
#include "core/predict/prediction.h"

namespace fourfold {

// A layout whose device memory comes within this share of the capacity is `tight`: it fits by the estimate, but the
// estimate's error and the allocator near its limit may say otherwise.
inline constexpr double kTightShare = 0.06;

// `no` above the capacity, `tight` above (1 - kTightShare) of it, else `fits`.
Fit judge_fit(double device_gib, double capacity_gib);

// How far a layout has gone into the last part of the memory, where the allocator retries and frees: 0 up to 94 % of
// the capacity, 1 at the capacity and beyond.
double memory_pressure(double device_gib, double capacity_gib);

// Memory that the framework's allocator reserves, over what is allocated in it: at least 1.
double fragmentation_of(const ResolvedPlan& plan);

struct MemoryAnswer {
    std::vector<StageMemory> stages; // in the stack's convention
    double published_gib = 0; // of the stage that the stack publishes, else of the largest
    double device_gib = 0; // largest stage: reserved + context + communicators
    int device_stage = 0; // which one
    int in_flight = 0; // micro-batches alive at once on stage 0
};
MemoryAnswer memory_answer(
    const ResolvedPlan& plan, const std::vector<StageProgram>& program, const PlanSchedule& schedule);

} // namespace fourfold
