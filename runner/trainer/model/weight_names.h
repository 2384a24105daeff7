// SPDX-License-Identifier: GPL-3.0-or-later
// Which names of the parameter table play which part in a decoder. Hugging Face names; ".weight" and ".bias" follow.
#pragma once

#include "core/model/model_shape.h"

#include <string>

namespace fourfold::trainer {

// Empty: the family has no such weight. `layer`: followed by the layer's number and a dot, before the names of a layer.
struct WeightNames {
    std::string embedding{}, position_embedding{}, embedding_norm{};
    std::string layer{};
    std::string attention_norm{}, query{}, key{}, value{};
    std::string fused{}; // queries, keys and values in one projection, head after head
    std::string output{}, mlp_norm{};
    std::string gate{}, up{}, down{}; // gate only where the MLP is gated
    std::string final_norm{}, head{};
};

// Precondition: trainer_limits() has no reason against the family.
const WeightNames& weight_names(const ModelShape& model);

} // namespace fourfold::trainer
