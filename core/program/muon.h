// SPDX-License-Identifier: GPL-3.0-or-later
// Muon (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon): the momentum of a hidden matrix is brought near
// the closest matrix with orthonormal rows by a Newton-Schulz iteration, and that is the step. Only the whole matrix
// has this answer, so that ranks which hold it in parts gather it: which of them works on which matrix is said here,
// for planner and trainer.
#pragma once

#include "core/model/layer.h"
#include "core/program/operation.h"
#include "core/program/rank_shape.h"
#include "core/program/sharding_operations.h"

#include <cstdint>

namespace fourfold {

// X <- a X + (b A + c A A) X with A = X X^T, from X of norm 1: the post's coefficients and number of iterations.
struct NewtonSchulz {
    double a = 3.4445, b = -4.7750, c = 2.0315;
    int iterations = 5;
};

// Elements that an owner works on at once: small matrices, as those of experts, are iterated together.
inline constexpr double kMuonElements = 1 << 24;

// Is a tensor of this kind, a bias apart, a hidden matrix? Embedding, head, router and vectors take AdamW's step.
bool takes_muon(ParameterKind kind);
// The projections that a tensor holds one beside the other, each orthogonalised by itself: queries, keys and values
// where they are fused. Any other tensor is one matrix.
int muon_parts(Role role);
// By which the orthogonalised momentum is multiplied beside the learning rate, so that AdamW's rate and decay fit both:
// 0.2 sqrt(max(rows, columns)), Liu et al. 2025, arXiv:2502.16982, equation 4.
double muon_scale(double rows, double columns);

// How matrices that are alike are dealt: matrix j to owner j modulo `owners`, each owner at most `at_once` in a round.
struct MuonDeal {
    std::int64_t owners = 1, at_once = 1;

    // `elements`: of one matrix.
    MuonDeal(std::int64_t owners, double elements, double most = kMuonElements);
    [[nodiscard]] std::int64_t owner(std::int64_t matrix) const { return matrix % owners; }
    [[nodiscard]] double most(double matrices) const; // of the owner with the most
    [[nodiscard]] double rounds(double matrices) const;
};

// The elements on a rank whose step is Muon's; 0 with another optimizer. `experts`: of its routed experts in a layer.
double muon_elements(const ResolvedPlan& plan, const LayerParameters& layer);
double muon_elements_of_experts(const ResolvedPlan& plan, const RankShape& rank);
// States of the optimizer for each parameter of the whole model, on average: two, but one of what is Muon's.
double states_per_parameter(const ResolvedPlan& plan);

// Gathers, iterations and what goes back, once a step. Nothing with another optimizer.
void add_muon_operations(
    std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, const StageParameters& parameters);
// What a rank holds beyond its states while it updates, bytes: of the kind of matrix that takes the most.
double muon_workspace(const ResolvedPlan& plan, const RankShape& rank, const StageParameters& parameters);

} // namespace fourfold
