// SPDX-License-Identifier: GPL-3.0-or-later
// A mixture of experts in plain loops over doubles, for the models of naive_model.h.
#pragma once

#include "tests/parity/naive_model.h"

namespace fourfold::testing {

// What the experts of a layer add to each position of a sequence, from what the norm before them put out.
struct NaiveExperts {
    std::vector<std::vector<double>> out;
    double balance = 0; // sum over experts of f P
    double margin = 0; // least distance of a chosen score from one that was not chosen
};
// `layer`: "model.layers.1.". `capacity`: see ExpertSettings, by the sequence.
NaiveExperts naive_experts(const ModelShape& model, const NamedWeights& weights, const std::string& layer,
    const std::vector<std::vector<double>>& in, double capacity);

} // namespace fourfold::testing
