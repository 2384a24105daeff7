// SPDX-License-Identifier: GPL-3.0-or-later
// A text that a model reads piece by piece: what it computed of the tokens so far (keys and values) it keeps.
#pragma once

#include "runner/trainer/model/decoder.h"
#include "runner/trainer/model/rotary.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace fourfold::trainer {

class TextReader {
public:
    // One rank that has the whole model. All of it must outlive the reader.
    struct Model {
        const ResolvedPlan& plan;
        const Mesh& mesh;
        const Weights& weights;
        const ParameterUnits& units;
        WeightGradients& later;
        at::TensorOptions options; // of the weights
    };
    explicit TextReader(const Model& model)
        : model_(model)
    {
    }
    TextReader(const TextReader&) = delete;
    TextReader& operator=(const TextReader&) = delete;

    // The logits of what follows the last of `tokens`, which come behind those read so far: [vocab]. As if the whole
    // text were computed at its length: where positions are turned otherwise in a text of that length (longrope beyond
    // its original positions) all of it is. Preconditions: there are tokens, all of the vocabulary, and with those
    // before no more than max_positions.
    at::Tensor read(const std::vector<int64_t>& tokens);

private:
    // Layers for texts of up to so many tokens, turned as in one of `length`.
    void make_layers(int64_t room, int64_t length);
    [[nodiscard]] RotaryFrequencies frequencies(int64_t length) const;

    Model model_;
    std::vector<int64_t> text_;
    int64_t room_ = 0; // tokens that the layers have positions for
    RotaryFrequencies turned_;
    std::optional<BlockSettings> settings_;
    std::vector<Decoder> decoders_;
    KeyValueCache seen_;
};

} // namespace fourfold::trainer
