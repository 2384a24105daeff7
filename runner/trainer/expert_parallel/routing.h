// SPDX-License-Identifier: GPL-3.0-or-later
// Which experts a token goes to, what their answers count, and what keeps them evenly loaded.
#pragma once

#include "core/layout/training.h"
#include "core/model/model_shape.h"
#include "runner/trainer/comm/communicator.h"
#include "runner/trainer/model/weights.h"

#include <vector>

namespace fourfold::trainer {

// What a rank's tokens are part of. Groups must outlive the graphs.
struct RoutingGroups {
    // Ranks that hold other tokens of the same sequences, and those with other tokens of the same micro-batch.
    std::vector<const Communicator*> of_sequence, of_micro_batch;
    at::Tensor order; // of the rows of all ranks of `of_sequence`, one group's after the other's: rising positions
    at::Tensor positions; // of this rank's rows
    double tokens = 0; // of a whole sequence
    double replicas = 1; // sets of sequences in a micro-batch of all replicas
    double loss_gradient = 1; // of the sum of the tokens' losses, in this step
};

struct Routing {
    at::Tensor experts; // [tokens, active] int64, of each token by falling score; `count` where an expert is full
    at::Tensor weights; // [tokens, active] in fp32 (fp64 for fp64 tokens), with gradients
};

// x: [rows, sequences, hidden]; its tokens go row by row. router: [experts, hidden], its bias [experts] or undefined;
// `bias`: [experts], added to the scores for the choice alone (DeepSeek-V3, arXiv:2412.19437, equation 16), or
// undefined. Computed in fp32 (fp64).
//
// In a backward pass the router also gets the gradient of the balance loss, coefficient x sum over experts of f P, as
// much as a token's loss for each token: f is experts / active times the share of the tokens that chose the expert, P
// the mean of the scores (equations 17 to 20; Switch Transformers, arXiv:2101.03961, equation 4, with f over all
// chosen). And the bias gets experts x (tokens that chose the expert) - active x tokens, which is whole and adds up to
// the excess over the mean load; the optimizer goes by its sign. `load`, [experts + 1] int64 or undefined, counts the
// choices of these passes, and at its end those that found no place.
Routing route(const at::Tensor& x, const Affine& router, const at::Tensor& bias, const Experts& rules,
    const ExpertSettings& settings, const RoutingGroups& groups, const at::Tensor& load);

} // namespace fourfold::trainer
