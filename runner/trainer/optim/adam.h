// SPDX-License-Identifier: GPL-3.0-or-later
// Adam on flat buffers, and the gradient norm: AdamW (Loshchilov, Hutter 2019, arXiv:1711.05101, algorithm 2), whose
// weight decay is apart from the gradient, or Adam with L2 decay (the same, whose decay is added to the gradient).
#pragma once

#include "core/layout/run_settings.h"
#include "core/layout/training.h"
#include "runner/trainer/comm/mesh.h"
#include "runner/trainer/kernels/operations.h"
#include "runner/trainer/model/weights.h"

#include <array>
#include <functional>

namespace fourfold::trainer {

// This rank's part of the squared global gradient norm, fp64 scalar on the gradients' device: each parameter counts on
// one rank only, so that the sum over all ranks is the square of the norm that one rank would compute.
at::Tensor squared_norm_share(
    const Weights& weights, const std::vector<at::Tensor>& gradients, const Mesh& mesh, Kernels kernels);
// Adds what one bucket's gradient, beside weights.masters()[bucket], adds to it.
void add_squared_norm_share(const at::Tensor& sum, const Weights& weights, std::size_t bucket,
    const at::Tensor& gradient, const Mesh& mesh, Kernels kernels);

class Adam {
public:
    // `states`: the type in which the moments are kept. Where it is not that of the masters, an update computes in the
    // masters' type and rounds the moments when it is done.
    Adam(const Weights& weights, const RunSettings& settings, Optimizer kind, at::ScalarType states, Kernels kernels);
    // Called around the update of each bucket, where they are updated one after the other.
    struct Visits {
        std::function<void(std::size_t bucket)> before, after;
    };
    // One update of weights.masters() from `gradients` beside them times `scale`; of matrices that take Muon's step
    // they are scaled in place for it.
    void step(
        const std::vector<at::Tensor>& gradients, double learning_rate, double scale, const Visits* visits = nullptr);
    // The same bucket by bucket, each once in any order: begin_step(), then update() of each. Of `gradients` the
    // bucket's own alone is read.
    void begin_step() { ++updates_; }
    void update(std::size_t bucket, const std::vector<at::Tensor>& gradients, double learning_rate) const;

    // Of matrices that take Muon's step it keeps the first moment, which is all that they have, and steps no further.
    [[nodiscard]] const std::vector<at::Tensor>& first_moment() const { return first_moment_; }
    // Its states, for checkpoints: flat buffers beside weights.masters(), each of the parameters with or without Muon's
    // step, and the updates so far.
    struct State {
        const char* suffix; // of the tensors' names
        const std::vector<at::Tensor>* buffers;
        bool muon;
    };
    [[nodiscard]] std::array<State, 3> states() const;
    [[nodiscard]] int updates() const { return updates_; }
    void set_updates(int updates) { updates_ = updates; }

private:
    // Stretches of all buckets with one weight decay.
    struct Group {
        double weight_decay = 0;
        std::vector<std::size_t> buckets; // beside segments, ascending
        std::vector<BucketSegment> segments;
        std::vector<at::Tensor> masters, first_moments, second_moments;
    };
    // Of the buckets [first, last).
    void update(std::size_t first, std::size_t last, const std::vector<at::Tensor>& gradients, double learning_rate,
        double scale) const;
    // Of one stretch.
    void update(
        const Group& group, std::size_t i, const at::Tensor& gradient, double learning_rate, double scale) const;

    // Routing biases: DeepSeek-V3 (arXiv:2412.19437), section 2.1.2, auxiliary-loss-free balancing.
    struct Ruled {
        std::size_t bucket = 0;
        BucketSegment segment;
        at::Tensor masters;
    };

    RunSettings settings_;
    bool decoupled_; // weight decay
    Kernels kernels_;
    std::vector<Ruled> ruled_;
    std::vector<at::Tensor> first_moment_, second_moment_; // beside weights.masters(), the second as far as it goes
    int updates_ = 0;
    std::array<Group, 2> groups_; // decayed or not; views of the above
};

} // namespace fourfold::trainer
