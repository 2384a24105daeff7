// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/optim/adamw.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

namespace fourfold::trainer {

at::Tensor squared_norm_share(const Weights& weights, const std::vector<at::Tensor>& gradients, const Mesh& mesh)
{
    const at::Tensor sum = at::zeros({}, gradients.at(0).options().dtype(at::kDouble));
    if (!weights.sharded() && mesh.replicas.rank() != 0)
        return sum;
    for (std::size_t b = 0; b < gradients.size(); ++b) {
        const Replication replication = weights.buckets()[b].replication;
        const bool own = replication == Replication::none || (replication == Replication::tp && mesh.tp.rank() == 0)
            || (replication == Replication::kv && mesh.kv.rank() == 0)
            || (replication == Replication::ends && mesh.ends.rank() == 0);
        if (own)
            sum.add_(gradients[b].norm(2, at::kDouble).square());
    }
    return sum;
}

AdamW::AdamW(const Weights& weights, const RunSettings& settings)
    : weights_(weights)
    , settings_(settings)
{
    for (const at::Tensor& master : weights.masters()) {
        first_moment_.push_back(at::zeros_like(master));
        second_moment_.push_back(at::zeros_like(master));
        steps_.push_back(at::zeros({}, master.options().dtype(at::kFloat)));
    }
}

void AdamW::set_updates(int updates)
{
    updates_ = updates;
    for (const at::Tensor& steps : steps_)
        steps.fill_(updates);
}

void AdamW::step(const std::vector<at::Tensor>& gradients, double learning_rate, double scale)
{
    const at::NoGradGuard no_graph;
    ++updates_;
    for (std::size_t b = 0; b < gradients.size(); ++b) {
        if (scale != 1)
            gradients[b].mul_(scale);
        steps_[b].add_(1);
        const double decay = weights_.buckets()[b].weight_decay ? settings_.weight_decay : 0;
        at::_fused_adamw_({weights_.masters()[b]}, {gradients[b]}, {first_moment_[b]}, {second_moment_[b]}, {},
            {steps_[b]}, learning_rate, settings_.beta1, settings_.beta2, decay, settings_.eps, /*amsgrad=*/false,
            /*maximize=*/false);
    }
}

} // namespace fourfold::trainer
