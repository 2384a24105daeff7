// SPDX-License-Identifier: GPL-3.0-or-later
// Rules of thumb with this plan's numbers: is each kind of parallelism bound by compute or by communication, on which
// links, from which batch on; and what a GPU, a node and the whole job can hold.
#pragma once

#include "core/cost/overlap_bound.h"
#include "core/plan/plan.h"

#include <string>
#include <vector>

namespace fourfold {

enum class LinkKind { node, torus, network }; // switch or pairs inside a node, torus inside a pod, between nodes
template <>
inline constexpr auto kWords<LinkKind> = std::to_array<std::string_view>({"node", "torus", "network"});

// One forward pass of a layer (of a stage for the pipeline): what it moves against what it computes.
//   fsdp  gathers the layer's parameters over p ranks: message fixed, work grows with the batch (the lecture's case)
//   tp    gathers and scatters activations, Korthikanti et al., arXiv:2205.05198: both grow with the batch
//   pp    passes one activation to the next stage
//   ep    sends each token to its experts and back (mixtures of experts only)
struct LinkBound {
    std::string parallelism; // "fsdp", "tp", "pp", "ep"
    LinkKind link = LinkKind::node;
    int ranks = 1; // of the plan; where the plan does not use it, of a whole node, or of two nodes
    bool used = false; // the plan's group lies on this link
    double batch = 1; // sequences of a micro-batch
    OverlapBound bound;
    [[nodiscard]] bool compute_bound() const { return bound.compute_bound(batch); }
};

// What fits: weights, gradients and optimizer states alone, spread over all GPUs of the level.
struct CapacityLevel {
    std::string level; // "gpu", "node", "job"
    int gpus = 1;
    double memory_gib = 0;
    double most_parameters = 0; // the largest model whose states it holds
    bool holds_model = false;
};

struct Bounds {
    double compute_tflops = 0; // sustained rate of products: peak times the stack's efficiency
    double state_bytes_per_parameter = 0;
    std::vector<CapacityLevel> levels;
    std::vector<LinkBound> links;
};

Bounds bounds_of(const ResolvedPlan& plan);

// The key `bounds` of `predict --json`.
Json to_json(const Bounds& bounds);

} // namespace fourfold
