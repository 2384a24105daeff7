// SPDX-License-Identifier: GPL-3.0-or-later
// From priced operations to the time of a pass: what hides behind what, launch floors, slowdowns.
#pragma once

#include "core/cost/prices.h"

#include <array>
#include <vector>

namespace fourfold {

using PartSeconds = std::array<double, kParts>; // by Part

// One pass of one chunk over one micro-batch: forward, or backward with recomputation and weight gradients.
struct PassTime {
    PartSeconds exposed{}, hidden{};
    double weight_gradient_s = 0; // of seconds(): what a schedule may do later than the input gradient
    double unstretched_s = 0; // before slowdowns that are shares of the pass; memory pressure adds a share of this
    // Of unstretched_s: fixed costs of the host, and products that give weight gradients.
    double fixed_s = 0, weight_products_s = 0;
    double free_window_s = 0; // of the layers: what more communication could hide behind
    [[nodiscard]] double seconds() const;
};

struct ChunkTime {
    PassTime forward, backward;
};
// What an operation of a pass takes with all its repetitions, alone.
double seconds_in_pass(const Operation& operation, const CostContext& context);
// Prices the micro-batch operations of a chunk. Hidden communication takes window time once: what one operation used is
// gone for the next.
ChunkTime chunk_time(const ChunkProgram& chunk, const CostContext& context);

// One operation of a step with what its window hides of it.
struct StepOperationTime {
    const Operation* operation = nullptr;
    double exposed = 0, hidden = 0;
};
// Of `seconds` what hides in `window` seconds of other work, which then are used up.
double hide(double seconds, const Operation& operation, double& window, const CostContext& context);
// `forward_s`, `backward_s`: one pass of all chunks of the stage, the windows of parameter gather and reduction.
std::vector<StepOperationTime> step_operation_times(
    const StageProgram& stage, double forward_s, double backward_s, const CostContext& context);

// Of a pass of `unstretched_s`, which slowdowns made `seconds`, what its weight gradients take: they share in the
// slowdowns, but have none of the fixed costs.
double weight_gradient_seconds(double unstretched_s, double fixed_s, double weight_products_s, double seconds);

// (a^p + b^p)^(1/p): about the larger of two times that overlap imperfectly.
double smooth_maximum(double a, double b, double power);

} // namespace fourfold
