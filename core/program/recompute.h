// SPDX-License-Identifier: GPL-3.0-or-later
// Activation recomputation: how much of a layer's forward runs again in the backward, and what that frees.
#pragma once

#include "core/program/operation.h"
#include "core/program/rank_shape.h"

namespace fourfold {

// Per kind of work, 0..1. A stack's own selective recomputation is told by its constants; other parts follow from what
// fourfold-trainer does for them.
struct RecomputeShare {
    double part = 0; // of the layers, those that recompute at all
    double projections = 0, mlp = 0, experts = 0; // matrix products
    bool every_second = false; // of the products, counted along the layer; the shares above do not hold then
    double latents = 0; // products that give queries, keys and values from latents
    double attention = 0;
    double norms = 0; // the two of every layer
    double positions = 0, activation = 0; // and what else works element by element
    double gathers = 0, reductions = 0; // of tensor parallelism
    double kept_gathers = 0; // of `gathers`, those that serve the weight gradients as well
    double exchange = 0; // of tokens with experts
};
RecomputeShare recompute_share(
    const ResolvedPlan& plan, const Constants& constants, bool moe, double layers, double recompute_layers);

// What runs through the layer's products in order: says of each how much of it is repeated.
class RepeatedProducts {
public:
    RepeatedProducts(const ResolvedPlan& plan, const RankShape& rank, const RecomputeShare& share, bool moe);
    double share_of(const MatrixRow& matrix); // 0..1

private:
    const RecomputeShare& share_;
    bool moe_, latent_, in_pieces_;
    bool sums_; // the bundled trainer repeats no product whose sum over the ranks it keeps
    int counted_ = 0;
};

// Does the trainer cut the collectives of tensor parallelism into pieces beside its products?
bool in_pieces(const ResolvedPlan& plan);

// Do the constants of the stack describe the parts that selective recomputation repeats? Those of the bundled trainer
// are counted one by one.
bool parts_of_stack(const ResolvedPlan& plan, const Constants& constants);

// Elements of a token that `operations` keeps of a layer on this rank: its input, the attention's output and every
// second product's.
double kept_by_operations(const ResolvedPlan& plan, const RankShape& rank, bool moe);

} // namespace fourfold
