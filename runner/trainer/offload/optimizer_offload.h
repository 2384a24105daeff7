// SPDX-License-Identifier: GPL-3.0-or-later
// The optimizer's update on the host, where its states and the masters lie: gradients go there bucket by bucket, the
// host updates one bucket while the others are on their way, and what it updated goes back meanwhile (ZeRO-Offload, Ren
// et al. 2021, arXiv:2101.06840, sections 3 and 4).
#pragma once

#include "runner/trainer/optim/adam.h"
#include "runner/trainer/optim/muon.h"

#include <vector>

namespace fourfold::trainer {

class OptimizerOffload {
public:
    // `weights`, whose masters are away, must outlive the object.
    explicit OptimizerOffload(const Weights& weights);

    // Adam::step() of `gradients`, which are on the device and stay as they are, and, where it is not null, Muon's;
    // publish the weights afterwards.
    void step(Adam& optimizer, const Muon* muon, const std::vector<at::Tensor>& gradients, double learning_rate,
        double scale);

private:
    const Weights& weights_;
    CopyLane out_;
    std::vector<at::Tensor> gradients_; // on the host, beside weights.buckets()
};

} // namespace fourfold::trainer
