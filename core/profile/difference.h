// SPDX-License-Identifier: GPL-3.0-or-later
// A profiled step beside the predicted one, part by part.
#pragma once

#include "core/predict/prediction.h"
#include "core/profile/kineto.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace fourfold {

// Seconds of a step of one rank in which at least one kernel of a kind runs; of communication and copies also those in
// which nothing else does; and in which nothing runs.
struct KernelTimes {
    std::array<double, kWords<KernelKind>.size()> busy{};
    double exposed_communication = 0, exposed_copies = 0, idle = 0;
    [[nodiscard]] double operator[](KernelKind kind) const { return busy[static_cast<std::size_t>(kind)]; }
};
KernelTimes kernel_times(const StepProfile& step);

struct PartDifference {
    std::string part; // "matrix products", "communication, not hidden", "idle", "step"
    std::optional<double> predicted_s; // of the busiest stage; empty: the planner has no such part
    double measured_s = 0;
    std::int64_t kernels = 0; // that were measured
    [[nodiscard]] std::optional<double> difference() const // measured - predicted, s
    {
        return predicted_s ? std::optional(measured_s - *predicted_s) : std::nullopt;
    }
};
// What is predicted of kernels is the sum of their prices, of several micro-batches together; the host's shares and
// floors, and waiting for other stages, are in "idle". The step's length is the last row.
std::vector<PartDifference> part_differences(const Prediction& prediction, const StepProfile& step);

// The collectives of a step that are alike.
struct CollectiveUse {
    std::string collective, group; // empty: the profiler did not say
    int ranks = 0;
    std::int64_t count = 0;
    double bytes = 0, busy_s = 0; // of all of them
};
std::vector<CollectiveUse> collective_uses(const StepProfile& step); // the longest first

} // namespace fourfold
