// SPDX-License-Identifier: GPL-3.0-or-later
// What was measured of a stack on one type of GPU: where its constants are more than a guess.
#pragma once

#include "core/base/json.h"
#include "core/layout/training.h"

#include <map>
#include <set>
#include <string>

namespace fourfold {

// Kinds of runs whose cost the model knows only from measurements of that kind.
enum class Regime {
    cp_across_nodes, // a context-parallel group that spans nodes
    cp_and_pp_beyond_node, // context and pipeline parallelism, one replica larger than a node
    near_full_memory, // more than 95 % of the GPU's memory
    pipeline_on_hundreds, // a pipeline in a job of 256 GPUs and more
    experts, // a mixture of experts
    fp8,
    nvfp4,
    offload, // of activations or optimizer states to the host
};
template <>
inline constexpr auto kWords<Regime> = std::to_array<std::string_view>({"cp_across_nodes", "cp_and_pp_beyond_node",
    "near_full_memory", "pipeline_on_hundreds", "experts", "fp8", "nvfp4", "offload"});

// A regime counts as measured from this many runs on.
inline constexpr int kRegimeRuns = 3;

// From the least to the most that measured jobs had of something; high 0: not known.
struct MeasuredSpan {
    double low = 0, high = 0;
    void take(double value);
    // More than `factor` below the least or above the most; what is not known is far from nothing.
    [[nodiscard]] bool is_far(double value, double factor) const;
    // ln of the factor by which it lies below the least or above the most; 0 between them, or where nothing is known.
    [[nodiscard]] double beyond(double value) const;
};

struct MeasuredDomain {
    int runs = 0; // measured runs that the constants and intervals rest on
    int gpus = 0; // of the largest
    int pipeline_gpus = 0; // the largest job with a pipeline that kRegimeRuns runs reach
    std::string generation = {}; // of the GPU
    std::set<AttentionKernel> kernels = {}; // of those runs; empty: not told
    std::set<std::string> clusters = {}; // ids of the presets that they ran on
    std::set<Regime> regimes = {}; // measured at least kRegimeRuns times
    MeasuredSpan intra_node_gb_s{}, inter_node_gb_s{}; // links that the runs used (IntraNode::link_gb_s())
    MeasuredSpan parameters_b{}; // of their models, in 10^9
    MeasuredSpan seq_len{};
};

// `measured` of a stack preset: by GPU id.
using MeasuredDomains = std::map<std::string, MeasuredDomain>;
Expected<MeasuredDomains> domains_from_json(const Json& json, const std::string& where);
Json to_json(const MeasuredDomains& domains);

} // namespace fourfold
