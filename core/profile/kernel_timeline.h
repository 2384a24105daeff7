// SPDX-License-Identifier: GPL-3.0-or-later
// What runs on the streams of ranks in a step, kernel by kernel: as a profiler saw it, and as the planner prices it.
#pragma once

#include "core/predict/prediction.h"
#include "core/profile/kineto.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fourfold {

// What kernels have in common of which a step has many.
struct KernelFacts {
    std::string name;
    KernelKind kind = KernelKind::other;
    std::string collective, group; // empty: none, or not known
    int ranks = 0; // of the group; 0: not known
    double bytes = 0, flops = 0; // of one execution; 0: not known
    bool operator<(const KernelFacts& other) const;
};

struct KernelSpan {
    double start_s = 0, end_s = 0; // since the step began
    std::uint32_t facts = 0; // index into KernelTimeline::facts
    int layer = -1, micro_batch = -1; // -1: of none, or not known
};

struct KernelTrack {
    std::string name; // "rank 5, stream 20, fsdp"; "stage 0, tp"
    std::string ranks; // whom it stands for, where those are several: "8 ranks alike"
    std::vector<KernelSpan> spans; // by start
};

struct KernelTimeline {
    double length_s = 0; // of the step; of several ranks the longest
    std::vector<KernelFacts> facts;
    std::vector<KernelTrack> tracks;
    // It would have had more spans than were wanted: passes of later micro-batches are as one on each track.
    bool is_cut = false;
};

// A profiled step of one rank.
struct RankStep {
    int rank = -1; // -1: the profiler did not say
    StepProfile step;
};
// A track a rank and stream, ranks in order; each rank's step begins at 0.
KernelTimeline measured_kernels(const std::vector<RankStep>& ranks);

// The stages of a prediction: for each a track of what it computes, and one for each kind of group that communicates.
// Kernels keep the time that they are priced at, in the order in which the planner lists them, layer by layer; what a
// pass takes beyond them (the host, slowdowns) is between them, and a pass that is shorter than their sum shortens all.
// What hides runs beside what it hides behind. Empty where the prediction has no timeline.
inline constexpr std::size_t kMostPredictedKernels = 2'000'000;
KernelTimeline predicted_kernels(
    const Prediction& prediction, const std::vector<int>& stages, std::size_t most = kMostPredictedKernels);

} // namespace fourfold
