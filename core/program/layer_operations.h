// SPDX-License-Identifier: GPL-3.0-or-later
// The operations of transformer layers, of the embedding and of the head, for one micro-batch.
#pragma once

#include "core/program/operation.h"
#include "core/program/rank_shape.h"

namespace fourfold {

// A group of equal layers in a chunk.
struct LayerGroup {
    int layers = 0;
    bool moe = false;
};

// Appends every phase of `group`: forward, recompute (the plan's mode), backward, weight_gradient.
void add_layer_operations(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank,
    LayerGroup group, double recompute_layers);
void add_embedding_operations(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank);
void add_head_operations(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank);
// One activation to the next stage and one gradient back, for pipelines (Part::pp: a delay between stages, not part of
// a stage's own time).
void add_pipeline_hop(std::vector<Operation>& list, const RankShape& rank, const Layout& layout);
// The host's time to launch `layers`, below which no pass of them comes. `graphed`: those of them that are recorded.
void add_launch_floors(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, double layers,
    double recompute_layers, double graphed);
// What the size of the job adds to every pass of a chunk: stragglers, wide replicas, jitter, a fixed cost.
void add_job_overheads(std::vector<Operation>& list, const ResolvedPlan& plan);

// Kept activations to host memory after a forward and back before the backward, hidden behind the layers' compute.
void add_activation_offload(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank,
    LayerGroup group, double recompute_layers);

// The same work in forward and backward, and for `recompute` (0..1) of the forwards once more.
void add_passes(std::vector<Operation>& list, Operation op, double recompute);
// A product y[m,n] = x[m,k] w[k,n] in all its phases: forward, input gradient, weight gradient; `recompute` (0..1) is
// the share of forwards repeated.
void add_product(std::vector<Operation>& list, const ResolvedPlan& plan, const std::string& name, double m, double n,
    double k, double batch, double repeat, double recompute, bool narrow, bool in_layer);
// Adding a micro-batch's gradients of `parameters` to the accumulated ones.
void add_gradient_accumulation(std::vector<Operation>& list, double parameters, double repeat, const char* name,
    const Constants& constants, bool in_layer);
// Communication that hides behind the layers of another micro-batch, where `beside` says so: of one stage alone in all
// passes but the first forward and the last backward. Else, and there, `op` is as it stands.
void add_beside(std::vector<Operation>& list, const ResolvedPlan& plan, bool beside, const Operation& op);
// Tokens to the routed experts of a layer and back (Megatron Core MoE, arXiv:2504.14960 section 3).
void add_token_exchange(
    std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, double repeat, double recompute);

} // namespace fourfold
