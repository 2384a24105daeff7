// SPDX-License-Identifier: GPL-3.0-or-later
// Fully sharded weights (ZeRO stage 3, arXiv:1910.02054 section 5.3; PyTorch FSDP, Zhao et al. 2023, arXiv:2304.11277,
// section 3): a unit's weights are gathered before it computes and freed afterwards, while the next unit's already
// come.
#pragma once

#include "core/plan/training.h"
#include "runner/trainer/comm/mesh.h"
#include "runner/trainer/model/weights.h"

#include <memory>

namespace fourfold::trainer {

// Without sharded weights every function is the identity. `weights` and `mesh` must outlive the object and all graphs.
class ParameterUnits {
public:
    static constexpr int kRoot = -1; // the "layer" of everything outside of the layers

    // `keep`: what is gathered stays until end_of_pass(), as pipelines do, whose micro-batches overlap.
    ParameterUnits(const Weights& weights, const Mesh& mesh, FsdpSettings settings, bool keep);
    ~ParameterUnits();
    ParameterUnits(const ParameterUnits&) = delete;
    ParameterUnits& operator=(const ParameterUnits&) = delete;

    // Around the forward computation of a layer, or of everything outside of the layers (kRoot). On return from
    // enter() its weights are there. leave() takes and returns what was computed last with them; before the backward
    // pass comes to it, the weights are there again.
    void enter(int layer) const;
    [[nodiscard]] at::Tensor leave(int layer, const at::Tensor& y) const;
    // All gradients of a bucket are made: nothing needs its weights until the next forward.
    void gradients_made(std::size_t bucket) const;
    // Frees everything, after the last backward or an evaluation.
    void end_of_pass() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace fourfold::trainer
