// SPDX-License-Identifier: GPL-3.0-or-later
// Passes through memory that the bundled trainer makes around the products of a layer. Counted by its code, not fitted:
// tests/parity/rehearsed_time_test.cpp holds what it does to what is planned. Of other software they are in the
// constants.
#pragma once

#include "core/program/operation.h"
#include "core/program/rank_shape.h"
#include "core/program/recompute.h"

namespace fourfold {

// fp8: each operand of a product is rounded for itself, once read for its largest magnitude. A tensor with one scale
// keeps that for the products of the backward pass; scales of rows and blocks are of one direction.
void add_own_casts(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, double layers,
    bool moe, const RecomputeShare& again);
// Asynchronous TP: rows of several ranks are computed as one product, and laid out as they stand in the sequence.
void add_laid_out_pieces(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, double layers,
    bool moe, const RecomputeShare& again);
// What comes of an fp8 gather of so many parameters is written in the type of the weights again, and scaled there.
Operation weights_of_fp8(double parameters, double repeat, Phase phase, const RankShape& rank);

} // namespace fourfold
