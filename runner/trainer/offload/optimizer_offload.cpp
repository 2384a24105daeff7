// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/offload/optimizer_offload.h"

#include "runner/trainer/rehearsal/lasting.h"

namespace fourfold::trainer {

OptimizerOffload::OptimizerOffload(const Weights& weights)
    : weights_(weights)
    , out_(weights.device())
{
}

void OptimizerOffload::step(
    Adam& optimizer, const Muon* muon, const std::vector<at::Tensor>& gradients, double learning_rate, double scale)
{
    if (gradients_.empty())
        for (const at::Tensor& gradient : gradients)
            gradients_.push_back(out_.host_room(gradient, gradient.scalar_type()));
    std::vector<CopyLane::Mark> here;
    out_.follow();
    for (std::size_t b = 0; b < gradients.size(); ++b) {
        out_.copy(gradients[b], gradients_[b]);
        here.push_back(out_.mark());
    }
    {
        const OnHost host;
        const Adam::Visits visits{[&](std::size_t bucket) { out_.host_waits(here[bucket]); },
            [&](std::size_t bucket) {
                updated_on_host(gradients_[bucket].numel());
                if (muon == nullptr)
                    weights_.start_return(bucket);
            }};
        optimizer.step(gradients_, learning_rate, scale, &visits);
    }
    if (muon == nullptr)
        return;
    muon->step(gradients_, learning_rate); // which are scaled now
    for (std::size_t b = 0; b < gradients_.size(); ++b)
        weights_.start_return(b);
}

} // namespace fourfold::trainer
