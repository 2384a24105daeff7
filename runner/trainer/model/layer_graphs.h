// SPDX-License-Identifier: GPL-3.0-or-later
// Layers whose forward and backward passes the device records once (core/plan/graphed_layers.h says which): the host
// then asks for each of them with one call. A graph reads and writes the memory that it was recorded with, so that each
// micro-batch that is between its forward and its backward pass has graphs of its own, a set.
#pragma once

#include "runner/trainer/data_parallel/gradient_buckets.h"
#include "runner/trainer/data_parallel/parameter_units.h"
#include "runner/trainer/device/device_graph.h"
#include "runner/trainer/model/block.h"

#include <memory>
#include <optional>
#include <vector>

namespace fourfold::trainer {

class LayerGraphs {
public:
    struct Layer {
        int number = 0;
        const Block* block = nullptr;
    };
    // What they need of the rank; all of it must outlive the graphs.
    struct Rank {
        const BlockSettings& settings;
        const Weights& weights;
        const ParameterUnits& units;
        const GradientBuckets& gradients;
    };
    // Records layers that follow each other, for streams of this shape and type, `sets` times. What gradients hold is
    // worth nothing afterwards. Throws where the device cannot.
    LayerGraphs(GraphRecorder& recorder, const Rank& rank, const std::vector<Layer>& layers,
        const std::vector<int64_t>& stream, const at::TensorOptions& options, int sets);
    ~LayerGraphs();
    LayerGraphs(const LayerGraphs&) = delete;
    LayerGraphs& operator=(const LayerGraphs&) = delete;

    [[nodiscard]] int first() const;
    [[nodiscard]] int count() const;
    // As Block::forward of each layer, with their weights' gradients added up in the backward pass. Empty where every
    // set is between its forward and its backward pass. Precondition: x requires a gradient.
    [[nodiscard]] std::optional<at::Tensor> forward(const at::Tensor& x) const;
    [[nodiscard]] int64_t replays() const; // since construction

private:
    struct State;
    std::shared_ptr<State> state_; // graphs of autograd's may outlive this
};

} // namespace fourfold::trainer
