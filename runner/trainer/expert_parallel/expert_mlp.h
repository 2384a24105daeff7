// SPDX-License-Identifier: GPL-3.0-or-later
// A layer's mixture of experts (Shazeer et al. 2017, arXiv:1701.06538) over the ranks of a pipeline stage: ep ranks
// hold different experts and exchange tokens (GShard, arXiv:2006.16668, section 3.2), etp ranks hold slices of the same
// experts, which are cut as an MLP is by tensor parallelism, and all see each other's tokens.
#pragma once

#include "core/plan/plan.h"
#include "runner/trainer/comm/mesh.h"
#include "runner/trainer/expert_parallel/routing.h"
#include "runner/trainer/expert_parallel/routing_record.h"
#include "runner/trainer/kernels/operations.h"
#include "runner/trainer/model/weights.h"
#include "runner/trainer/pipeline_parallel/pass_turns.h"
#include "runner/trainer/tensor_parallel/fp8_products.h"

#include <memory>
#include <optional>

namespace fourfold::trainer {

// What all layers of a rank share.
struct ExpertRules {
    Experts experts;
    double clamp = 0; // of Activation::clamped_swiglu; 0: plain SwiGLU
    ExpertSettings settings;
    RoutingGroups groups;
    // Whether tensor-parallel ranks hold different tokens between their regions; else all hold all of them, and etp is
    // the tp group.
    bool by_sequence = true;
    // [layers, experts + 1] int64: how often tokens of this rank's backward passes chose each expert, so far, and how
    // many of these choices found no place.
    at::Tensor load;
    Kernels kernels = Kernels::fused;
    std::shared_ptr<const Fp8Products> fp8{}; // null: products are in the numbers of x
    PassTurns* turns = nullptr; // of passes that compute beside the exchange of tokens; null: none does
    KnownRouting known{};
};
ExpertRules expert_rules(const ResolvedPlan& plan, const Mesh& mesh, at::Device device);

// How evenly the tokens of the backward passes since the last call were spread, over all ranks and layers.
struct ExpertLoad {
    double busiest = 0; // tokens of the expert that had the most, as a multiple of the mean of its layer
    int layer = 0; // in which that was
    int64_t idle = 0; // experts without a token, over all layers
    // Tokens of the expert-parallel rank whose experts had the most, as a multiple of the mean of its layer; where
    // there are several.
    std::optional<double> busiest_rank{};
    std::optional<double> dropped{}; // share of all choices that found no place; where experts have a capacity
};
// Collective.
ExpertLoad take_load(const ExpertRules& rules, const ModelShape& model, const Mesh& mesh);

class ExpertMlp {
public:
    // `rules`, `mesh` and `weights` must outlive the object and its graphs.
    ExpertMlp(const ExpertRules& rules, const Mesh& mesh, const Weights& weights, int layer);
    // x: [rows, sequences, hidden], this rank's rows of the normed residual stream -> what is added to them, without
    // the shared experts.
    [[nodiscard]] at::Tensor forward(const at::Tensor& x) const;

private:
    const ExpertRules& rules_;
    const Mesh& mesh_;
    Affine router_;
    at::Tensor bias_;
    Weights::OfExperts gate_, up_, down_;
    at::Tensor load_;
};

} // namespace fourfold::trainer
