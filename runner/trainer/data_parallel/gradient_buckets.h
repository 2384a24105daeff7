// SPDX-License-Identifier: GPL-3.0-or-later
// Gradients in flat buffers, summed over the replicas while the backward pass still runs.
//   ZeRO stage 0, 1 (arXiv:1910.02054 section 5.1): every rank adds up whole gradients, reduced with the last
//   micro-batch. stage 2, 3 (sections 5.2, 5.3): after each micro-batch a bucket is reduce-scattered and freed, only
//   the parts of the own rank are added up; a pipeline of stage 3 may do it once a step.
// With an optimizer in the backward pass a bucket is handed out as soon as it is the sum over all micro-batches and
// ranks, and its memory is given back (Lv et al. 2023, arXiv:2306.09782, section 3.1).
#pragma once

#include "core/layout/training.h"
#include "runner/trainer/comm/mesh.h"
#include "runner/trainer/model/weights.h"

#include <functional>
#include <memory>

namespace fourfold::trainer {

struct GradientSettings {
    bool overlap = true; // reduce behind backward passes, else after them or, each_micro_batch, between their products
    bool sequence_parallel = true; // gradients of weights that all TP ranks share are partial sums
    bool each_micro_batch = false; // stage 2, 3
    // Beside the buckets: those of one number get complete in bucket order, and are reduced in it. Empty: all do. A
    // pass makes gradients of one positive number, a chunk's layers, and of others.
    std::vector<int> lanes = {};
    at::ScalarType type = at::kFloat; // in which gradients are added up and reduced
    std::function<void(std::size_t bucket)> made = {}; // all gradients of a bucket came, for a micro-batch
    // The pass that runs leaves its gradient for later, or autograd has no part in it (WeightGradients::add_up).
    std::function<bool(const at::Tensor& weight)> waits = {};
    // Optimizer in backward: reduced()[bucket], and it alone, is final. Afterwards it is freed, but where `keep` is.
    std::function<void(std::size_t bucket)> final = {};
    bool keep = false; // for comparisons: until the next step
};

class GradientBuckets {
public:
    // Puts every weight's gradient into its bucket. `weights` and `mesh` must outlive the object.
    GradientBuckets(const Weights& weights, const Mesh& mesh, GradientSettings settings);
    ~GradientBuckets();
    GradientBuckets(const GradientBuckets&) = delete;
    GradientBuckets& operator=(const GradientBuckets&) = delete;

    // A step: clear(), a backward pass for each of so many micro-batches, finish().
    void clear(int micro_batches);
    // After it reduced() is complete: the sum over all micro-batches and replicas.
    void finish();

    // For gradients that something else than autograd adds up (model/layer_graphs.h, WeightGradients::add_up): where
    // those of weights.shards() [shard] are, undefined where that memory comes and goes; and that one was added there,
    // for a micro-batch.
    [[nodiscard]] at::Tensor sum_of(std::size_t shard) const;
    void count(std::size_t shard) const;

    // After finish(): multiplies all gradients.
    void scale(const at::Tensor& factor); // a scalar

    // The gradients of what this rank's optimizer updates, beside weights.masters(); undefined where they are freed.
    [[nodiscard]] const std::vector<at::Tensor>& reduced() const;
    // After finish(), for comparisons: the whole gradient of every weight, beside weights.shards(). Collective.
    [[nodiscard]] std::vector<at::Tensor> whole() const;
    // Reductions that began inside a backward pass, since construction.
    [[nodiscard]] int64_t overlapped() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace fourfold::trainer
