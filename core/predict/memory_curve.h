// SPDX-License-Identifier: GPL-3.0-or-later
// Memory of one stage over a step: the allocations of its program along its actions, at the times of the timeline.
#pragma once

#include "core/memory/walk.h"
#include "core/predict/prediction.h"

#include <vector>

namespace fourfold {

struct MemoryPoint {
    double start_s = 0, end_s = 0; // bytes are constant in between
    KindBytes gib{}; // weights, gradients, optimizer, activations, other
    [[nodiscard]] double total() const;
};

struct MemoryCurve {
    int stage = 0;
    std::vector<MemoryPoint> points; // by time; gaps between two actions are points of their own
    double peak_gib = 0; // largest total: what the framework allocates
    double peak_s = 0; // when the peak begins
    // What the stack's own figure of the stage has beyond the peak: fragmentation, context (see the stack's
    // convention).
    double beyond_gib = 0;
    // The simulation holds fewer micro-batches than the plan; the curve is of those.
    bool shortened = false;
};

// Empty for a prediction without a timeline and for a stage that the plan lacks.
MemoryCurve memory_over_time(const Prediction& prediction, int stage);

} // namespace fourfold
