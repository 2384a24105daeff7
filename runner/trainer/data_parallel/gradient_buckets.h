// SPDX-License-Identifier: GPL-3.0-or-later
// Gradients in flat fp32 buffers, summed over the replicas while the last micro-batch's backward pass still runs.
#pragma once

#include "runner/trainer/comm/mesh.h"
#include "runner/trainer/model/weights.h"

#include <memory>

namespace fourfold::trainer {

class GradientBuckets {
public:
    // Puts every weight's gradient into its bucket; gradients of bf16 weights are added up in fp32. `overlap`: reduce
    // during the backward pass, else after it. `sequence_parallel`: gradients of weights that all TP ranks share are
    // partial sums. `weights` and `mesh` must outlive the object.
    GradientBuckets(const Weights& weights, const Mesh& mesh, bool sequence_parallel, bool overlap);
    ~GradientBuckets();
    GradientBuckets(const GradientBuckets&) = delete;
    GradientBuckets& operator=(const GradientBuckets&) = delete;

    // A step: clear(), backward passes, arm_last_backward(), the last backward pass, finish().
    void clear();
    void arm_last_backward();
    // After it reduced() is complete: the sum over all micro-batches and replicas.
    void finish();

    // The gradients of what this rank's optimizer updates, beside weights.masters(); without sharding the same as
    // flat().
    [[nodiscard]] const std::vector<at::Tensor>& reduced() const;
    // Whole buckets, beside weights.buckets(); with sharding they are this replica's own sums only.
    [[nodiscard]] const std::vector<at::Tensor>& flat() const;
    // The gradient of one weight (index in weights.shards()), a view into its bucket.
    [[nodiscard]] const at::Tensor& gradient(std::size_t shard) const;
    // Buckets whose reduction began inside a backward pass, since construction.
    [[nodiscard]] int64_t overlapped() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace fourfold::trainer
