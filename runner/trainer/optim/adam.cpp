// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/optim/adam.h"

#include "runner/trainer/checkpoint/names.h"
#include "runner/trainer/kernels/updates.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>

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
    case Replication::heads:
        return mesh[GroupKind::tp].rank() == 0;
    case Replication::etp:
        return mesh[GroupKind::etp].rank() == 0;
    case Replication::kv:
        return mesh[GroupKind::tp_keys].rank() == 0;
    case Replication::ends:
        return mesh.ends.rank() == 0;
    }
    return true;
}
} // namespace

void add_squared_norm_share(const at::Tensor& sum, const Weights& weights, std::size_t b, const at::Tensor& gradient,
    const Mesh& mesh, Kernels kernels)
{
    const Bucket& bucket = weights.buckets()[b];
    const bool part_counts = bucket.cut() || mesh[bucket.groups.shard].rank() == 0;
    if (!part_counts || mesh[bucket.groups.copies].rank() != 0)
        return;
    for (const BucketSegment& segment : bucket.own_segments())
        if (!segment.ruled && counts_here(segment.replication, mesh))
            sum.add_(squared_norm(kernels, stretch(gradient, segment)));
}

at::Tensor squared_norm_share(
    const Weights& weights, const std::vector<at::Tensor>& gradients, const Mesh& mesh, Kernels kernels)
{
    const at::Tensor sum = at::zeros({}, gradients.at(0).options().dtype(at::kDouble));
    for (std::size_t b = 0; b < gradients.size(); ++b)
        add_squared_norm_share(sum, weights, b, gradients[b], mesh, kernels);
    return sum;
}

Adam::Adam(const Weights& weights, const RunSettings& settings, Optimizer kind, at::ScalarType states, Kernels kernels)
    : settings_(settings)
    , decoupled_(kind != Optimizer::adam && kind != Optimizer::fused_adam)
    , kernels_(kernels)
{
    groups_[0].weight_decay = settings.weight_decay;
    for (std::size_t b = 0; b < weights.masters().size(); ++b) {
        const at::Tensor& masters = weights.masters()[b];
        const std::vector<BucketSegment> own = weights.buckets()[b].own_segments();
        const auto muon = std::ranges::find(own, true, &BucketSegment::muon);
        first_moment_.push_back(at::zeros_like(masters, states));
        second_moment_.push_back(
            at::zeros({muon == own.end() ? masters.numel() : muon->begin}, masters.options().dtype(states)));
        for (const BucketSegment& segment : own) {
            if (segment.muon)
                break; // these are the last
            if (segment.ruled) {
                ruled_.push_back({b, segment, stretch(masters, segment)});
                continue;
            }
            Group& group = groups_[segment.weight_decay ? 0 : 1];
            group.buckets.push_back(b);
            group.segments.push_back(segment);
            group.masters.push_back(stretch(masters, segment));
            group.first_moments.push_back(stretch(first_moment_.back(), segment));
            group.second_moments.push_back(stretch(second_moment_.back(), segment));
        }
    }
}

std::array<Adam::State, 3> Adam::states() const
{
    return {{{kFirstMoment, &first_moment_, false}, {kSecondMoment, &second_moment_, false},
        {kMomentum, &first_moment_, true}}};
}

void Adam::update(
    const Group& group, std::size_t i, const at::Tensor& gradient, double learning_rate, double scale) const
{
    const double beta1 = settings_.beta1, beta2 = settings_.beta2, decay = group.weight_decay;
    const AdamFactors<double> factors{.gradient_scale = scale,
        .l2 = decoupled_ ? 0 : decay,
        .beta1 = beta1,
        .rest1 = 1 - beta1,
        .beta2 = beta2,
        .rest2 = 1 - beta2,
        .kept = decoupled_ ? 1 - learning_rate * decay : 1,
        .rate = learning_rate / (1 - std::pow(beta1, updates_)),
        .root = 1 / std::sqrt(1 - std::pow(beta2, updates_)),
        .eps = settings_.eps};
    adam_update(kernels_, factors, gradient, group.masters[i], group.first_moments[i], group.second_moments[i]);
}

void Adam::update(std::size_t first, std::size_t last, const std::vector<at::Tensor>& gradients, double learning_rate,
    double scale) const
{
    for (std::size_t b = first; b < last && scale != 1; ++b)
        if (const int64_t rest = second_moment_[b].numel(); rest < gradients[b].numel()) // Muon's
            gradients[b].narrow(0, rest, gradients[b].numel() - rest).mul_(scale);
    for (const Ruled& ruled : ruled_)
        if (ruled.bucket >= first && ruled.bucket < last)
            ruled.masters.add_(stretch(gradients[ruled.bucket], ruled.segment).sign(), -settings_.routing_bias_rate);
    for (const Group& group : groups_)
        for (std::size_t i = 0; i < group.buckets.size(); ++i)
            if (const std::size_t bucket = group.buckets[i]; bucket >= first && bucket < last)
                update(group, i, stretch(gradients[bucket], group.segments[i]), learning_rate, scale);
}

void Adam::update(std::size_t bucket, const std::vector<at::Tensor>& gradients, double learning_rate) const
{
    const at::NoGradGuard no_graph;
    update(bucket, bucket + 1, gradients, learning_rate, /*scale=*/1);
}

void Adam::step(const std::vector<at::Tensor>& gradients, double learning_rate, double scale, const Visits* visits)
{
    const at::NoGradGuard no_graph;
    begin_step();
    if (visits == nullptr)
        return update(0, gradients.size(), gradients, learning_rate, scale);
    for (std::size_t b = 0; b < gradients.size(); ++b) {
        visits->before(b);
        update(b, b + 1, gradients, learning_rate, scale);
        visits->after(b);
    }
}

} // namespace fourfold::trainer
