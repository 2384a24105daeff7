// SPDX-License-Identifier: GPL-3.0-or-later
// When weights are there. Fully sharded (ZeRO stage 3, arXiv:1910.02054 section 5.3; PyTorch FSDP, Zhao et al. 2023,
// arXiv:2304.11277, section 3): a unit's weights are gathered before it computes and freed afterwards, while the next
// unit's already come. Stages 1 and 2: updated weights come from the ranks that own them while the layers before them
// already compute.
#pragma once

#include "core/layout/training.h"
#include "runner/trainer/model/weights.h"

#include <memory>

namespace fourfold::trainer {

// Without sharded weights nothing waits. `weights` must outlive the object and all graphs.
class ParameterUnits {
public:
    // The "layers" of what stands before the layers and after them. Fully sharded, both are one unit, the root, where
    // plan_units() leaves them together.
    static constexpr int kFront = -1, kRear = -2;

    // `keep`: what is gathered stays until end_of_pass(). `overlap_publish`: publish() does not wait. `chunks`: the
    // first layers of this rank's chunks, where it is one of a pipeline: passes over one chunk know of no other.
    ParameterUnits(
        const Weights& weights, FsdpSettings settings, bool keep, bool overlap_publish, std::vector<int> chunks = {});
    ~ParameterUnits();
    ParameterUnits(const ParameterUnits&) = delete;
    ParameterUnits& operator=(const ParameterUnits&) = delete;

    // After the optimizer changed the masters: brings the leaves up to date, in the order of a forward pass.
    // Collective.
    void publish() const;

    // Before the first forward pass of a step, or of an evaluation: fully sharded weights of the first unit come, and
    // those of the next, while a stage still waits for its first message.
    void begin_pass() const;

    // Around the forward computation of a layer, or of what is outside of the layers. On return from enter() its
    // weights are there, and the next one's come, unless it is only looked up in passing; where they stay, those of the
    // chunks that this rank has yet to come to as well. leave() takes and returns
    // what was computed last with them; before the backward pass comes to it, the weights are there again.
    void enter(int layer, bool in_passing = false) const;
    [[nodiscard]] at::Tensor leave(int layer, const at::Tensor& y) const;
    // All gradients of a bucket are made: nothing needs its weights until the next forward.
    void gradients_made(std::size_t bucket) const;
    // The backward pass over a micro-batch is through a chunk, weight gradients that come later apart.
    void end_of_backward() const;
    // Frees everything, after the last backward or an evaluation.
    void end_of_pass() const;

    // Beside the buckets: of one number are those whose gradients come in the order of the buckets. Others' come
    // between, as the schedule of a pipeline has it. Empty where weights are not fully sharded.
    [[nodiscard]] std::vector<int> gradient_lanes() const;
    // Published buckets that still were under way when a forward pass began, since construction.
    [[nodiscard]] int64_t overlapped() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace fourfold::trainer
