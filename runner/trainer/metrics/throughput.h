// SPDX-License-Identifier: GPL-3.0-or-later
// The speed figures of a step, by the formulas that the planner uses for its prediction.
#pragma once

#include "core/plan/plan.h"

#include <optional>

namespace fourfold::trainer {

struct Throughput {
    double tps_per_gpu = 0; // tokens/s of the whole job divided by all its GPUs
    double tflops_per_gpu = 0; // by the plan's flop_convention
    std::optional<double> mfu; // share of the dense peak; empty where the GPU's peak is not known, and with fp8
};

// Of steps that took `time_s` for so many tokens of the whole job.
Throughput throughput(const ResolvedPlan& plan, double tokens, double time_s);

} // namespace fourfold::trainer
