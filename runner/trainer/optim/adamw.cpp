// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/optim/adamw.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

namespace fourfold::trainer {

namespace {
at::Tensor stretch(const at::Tensor& part, const BucketSegment& segment)
{
    return part.narrow(0, segment.begin, segment.end - segment.begin);
}

// Of the ranks that hold the same values, replicas aside, one counts.
bool counts_here(Replication replication, const Mesh& mesh)
{
    switch (replication) {
    case Replication::none:
        return true;
    case Replication::tp:
        return mesh[GroupKind::tp].rank() == 0;
    case Replication::kv:
        return mesh[GroupKind::tp_keys].rank() == 0;
    case Replication::ends:
        return mesh.ends.rank() == 0;
    }
    return true;
}
} // namespace

at::Tensor squared_norm_share(const Weights& weights, const std::vector<at::Tensor>& gradients, const Mesh& mesh)
{
    const at::Tensor sum = at::zeros({}, gradients.at(0).options().dtype(at::kDouble));
    for (std::size_t b = 0; b < gradients.size(); ++b) {
        const Bucket& bucket = weights.buckets()[b];
        const bool part_counts = bucket.cut() || mesh[bucket.groups.shard].rank() == 0;
        if (!part_counts || mesh[bucket.groups.copies].rank() != 0)
            continue;
        for (const BucketSegment& segment : bucket.own_segments())
            if (counts_here(segment.replication, mesh))
                sum.add_(stretch(gradients[b], segment).norm(2, at::kDouble).square());
    }
    return sum;
}

AdamW::AdamW(const Weights& weights, const RunSettings& settings)
    : settings_(settings)
{
    groups_[0].weight_decay = settings.weight_decay;
    for (std::size_t b = 0; b < weights.masters().size(); ++b) {
        const at::Tensor& masters = weights.masters()[b];
        first_moment_.push_back(at::zeros_like(masters));
        second_moment_.push_back(at::zeros_like(masters));
        for (const BucketSegment& segment : weights.buckets()[b].own_segments()) {
            Group& group = groups_[segment.weight_decay ? 0 : 1];
            group.buckets.push_back(b);
            group.segments.push_back(segment);
            group.masters.push_back(stretch(masters, segment));
            group.first_moments.push_back(stretch(first_moment_.back(), segment));
            group.second_moments.push_back(stretch(second_moment_.back(), segment));
            group.steps.push_back(at::zeros({}, masters.options().dtype(at::kFloat)));
        }
    }
}

void AdamW::set_updates(int updates)
{
    updates_ = updates;
    for (const Group& group : groups_)
        for (const at::Tensor& steps : group.steps)
            steps.fill_(updates);
}

void AdamW::step(const std::vector<at::Tensor>& gradients, double learning_rate, double scale)
{
    const at::NoGradGuard no_graph;
    ++updates_;
    if (scale != 1)
        for (const at::Tensor& gradient : gradients)
            gradient.mul_(scale);
    for (const Group& group : groups_) {
        if (group.masters.empty())
            continue;
        std::vector<at::Tensor> own;
        for (std::size_t i = 0; i < group.masters.size(); ++i) {
            own.push_back(stretch(gradients[group.buckets[i]], group.segments[i]));
            group.steps[i].add_(1);
        }
        at::_fused_adamw_(group.masters, own, group.first_moments, group.second_moments, {}, group.steps, learning_rate,
            settings_.beta1, settings_.beta2, group.weight_decay, settings_.eps, /*amsgrad=*/false,
            /*maximize=*/false);
    }
}

} // namespace fourfold::trainer
