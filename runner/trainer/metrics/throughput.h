// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of a step: speed by the formulas that the planner uses for its prediction, and those of all ranks.
#pragma once

#include "core/plan/plan.h"

#include <optional>
#include <vector>

namespace fourfold::trainer {

struct Throughput {
    double tps_per_gpu = 0; // tokens/s of the whole job divided by all its GPUs
    double tflops_per_gpu = 0; // by the plan's flop_convention
    std::optional<double> mfu; // share of the dense peak; empty where the GPU's peak is not known, and with fp8
};

// Of steps that took `time_s` for so many tokens of the whole job.
Throughput throughput(const ResolvedPlan& plan, double tokens, double time_s);

// One figure of every rank, in the order of the ranks.
using OfRanks = std::vector<double>;

struct RankFigures {
    OfRanks step_time_s; // by each rank's own clock
    // Peaks since the start: of all memory on CPUs, of the caching allocator's on GPUs.
    OfRanks resident_gib, allocated_gib, reserved_gib;

    // What predictions of the plan's stack are compared with.
    [[nodiscard]] const OfRanks& memory_gib(MemoryConvention convention) const
    {
        const OfRanks& of_gpu = convention == MemoryConvention::peak_allocated ? allocated_gib : reserved_gib;
        return of_gpu.empty() ? resident_gib : of_gpu;
    }
};
// What the `ranks` object of a step tells of one figure; the worst rank is the one with the most.
Json spread_of(const OfRanks& values);

} // namespace fourfold::trainer
