// SPDX-License-Identifier: GPL-3.0-or-later
// The models once more, in plain loops over doubles: slow, obvious, and sharing no code with the trainer.
#pragma once

#include "core/model/model_shape.h"

#include <map>
#include <string>
#include <vector>

namespace fourfold::testing {

// Full tensors, row-major, Hugging Face names; the layout is that of the parameter table.
using NamedWeights = std::map<std::string, std::vector<double>>;

struct NaiveLoss {
    double cross_entropy = 0; // nats, of all tokens with a label
    double ahead = 0; // the same of what modules predict further ahead, their mean
    double balance = 0; // of the experts of all layers, by the sequence, as much as a token's loss for each token
    double margin = 0; // of the routing: the least of any token's scores
};
// Of a sequence: token i predicts label i, unless that is below 0.
// `capacity`: of experts.
NaiveLoss naive_loss(const ModelShape& model, const NamedWeights& weights, const std::vector<int64_t>& tokens,
    const std::vector<int64_t>& labels, double capacity);

} // namespace fourfold::testing
