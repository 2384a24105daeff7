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

// Sum of the cross-entropy in nats over a sequence: token i predicts label i, unless that is below 0.
double naive_loss(const ModelShape& model, const NamedWeights& weights, const std::vector<int64_t>& tokens,
    const std::vector<int64_t>& labels);

} // namespace fourfold::testing
