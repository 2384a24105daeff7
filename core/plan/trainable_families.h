// SPDX-License-Identifier: GPL-3.0-or-later
// The model families that fourfold-trainer runs: one row each. What has no row is refused, by planner and trainer.
#pragma once

#include "core/base/expected.h"
#include "core/model/model_shape.h"

#include <string>

namespace fourfold {

// Which names of the parameter table play which part in a decoder. Hugging Face names; ".weight" and ".bias" follow.
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

// The rest of a block follows from ModelShape: its norm, its activation, its positions.
struct TrainableFamily {
    std::string model_type; // Hugging Face's
    WeightNames names;
    // Hugging Face's files keep its linear layers input first, and the fused projection as all queries, all keys, all
    // values.
    bool input_first = false;
};

Expected<const TrainableFamily*> find_trainable_family(const ModelShape& model);
// Precondition: the trainer runs the model's family.
const TrainableFamily& trainable_family(const ModelShape& model);

} // namespace fourfold
