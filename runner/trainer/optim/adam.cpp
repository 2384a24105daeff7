// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/optim/adam.h"

#include "runner/trainer/checkpoint/names.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

namespace fourfold::trainer {

namespace {
constexpr int64_t kConvertedAtOnce = 1 << 24; // elements

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
// The sum of the squares, in fp64 over rows that are summed in their own type, but 16-bit ones in fp32: a norm of the
// whole in fp64 would first hold a copy of it in fp64.
at::Tensor sum_of_squares(const at::Tensor& values)
{
    constexpr int64_t kRow = 1024;
    const int64_t in_rows = values.numel() / kRow * kRow;
    const at::ScalarType type = values.element_size() == 2 ? at::kFloat : values.scalar_type();
    const auto of_rows = [&](const at::Tensor& rows) {
        return at::linalg_vector_norm(rows, 2, at::IntArrayRef{1}, false, type).to(at::kDouble).square().sum();
    };
    const at::Tensor rest = of_rows(values.narrow(0, in_rows, values.numel() - in_rows).view({1, -1}));
    return in_rows == 0 ? rest : rest.add_(of_rows(values.narrow(0, 0, in_rows).view({-1, kRow})));
}
} // namespace

void add_squared_norm_share(
    const at::Tensor& sum, const Weights& weights, std::size_t b, const at::Tensor& gradient, const Mesh& mesh)
{
    const Bucket& bucket = weights.buckets()[b];
    const bool part_counts = bucket.cut() || mesh[bucket.groups.shard].rank() == 0;
    if (!part_counts || mesh[bucket.groups.copies].rank() != 0)
        return;
    for (const BucketSegment& segment : bucket.own_segments())
        if (!segment.ruled && counts_here(segment.replication, mesh))
            sum.add_(sum_of_squares(stretch(gradient, segment)));
}

at::Tensor squared_norm_share(const Weights& weights, const std::vector<at::Tensor>& gradients, const Mesh& mesh)
{
    const at::Tensor sum = at::zeros({}, gradients.at(0).options().dtype(at::kDouble));
    for (std::size_t b = 0; b < gradients.size(); ++b)
        add_squared_norm_share(sum, weights, b, gradients[b], mesh);
    return sum;
}

Adam::Adam(const Weights& weights, const RunSettings& settings, Optimizer kind, at::ScalarType states)
    : settings_(settings)
    , decoupled_(kind != Optimizer::adam && kind != Optimizer::fused_adam)
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
            group.steps.push_back(at::zeros({}, masters.options().dtype(at::kFloat)));
        }
    }
}

std::array<Adam::State, 3> Adam::states() const
{
    return {{{kFirstMoment, &first_moment_, false}, {kSecondMoment, &second_moment_, false},
        {kMomentum, &first_moment_, true}}};
}

void Adam::set_updates(int updates)
{
    updates_ = updates;
    for (const Group& group : groups_)
        for (const at::Tensor& steps : group.steps)
            steps.fill_(updates);
}

void Adam::update(const Group& group, std::size_t first, std::size_t last, const std::vector<at::Tensor>& gradients,
    double learning_rate) const
{
    const auto fused
        = [&](const auto& masters, const auto& slopes, const auto& moments, const auto& squares, const auto& steps) {
              const double rate = learning_rate, decay = group.weight_decay;
              const double beta1 = settings_.beta1, beta2 = settings_.beta2, eps = settings_.eps;
              if (decoupled_)
                  at::_fused_adamw_(masters, slopes, moments, squares, {}, steps, rate, beta1, beta2, decay, eps,
                      /*amsgrad=*/false, /*maximize=*/false);
              else
                  at::_fused_adam_(masters, slopes, moments, squares, {}, steps, rate, beta1, beta2, decay, eps,
                      /*amsgrad=*/false, /*maximize=*/false);
          };
    std::vector<at::Tensor> slopes, steps;
    for (std::size_t i = first; i < last; ++i) {
        slopes.push_back(stretch(gradients[group.buckets[i]], group.segments[i]));
        steps.push_back(group.steps[i].add_(1));
    }
    const at::ScalarType exact = group.masters[0].scalar_type();
    if (group.first_moments[0].scalar_type() == exact && slopes[0].scalar_type() == exact) {
        const auto some = [&](const std::vector<at::Tensor>& all) {
            return std::vector<at::Tensor>(all.begin() + std::ptrdiff_t(first), all.begin() + std::ptrdiff_t(last));
        };
        fused(some(group.masters), slopes, some(group.first_moments), some(group.second_moments), steps);
        return;
    }
    // Of another type than the masters, moments and gradients are brought into it piece by piece: a bucket may hold
    // gigabytes.
    using Piece = std::vector<at::Tensor>;
    for (std::size_t i = first; i < last; ++i) {
        const int64_t all = group.masters[i].numel();
        for (int64_t begin = 0; begin < all; begin += kConvertedAtOnce) {
            const auto own = [&](const at::Tensor& whole) {
                return whole.narrow(0, begin, std::min(kConvertedAtOnce, all - begin));
            };
            const at::Tensor kept_moments = own(group.first_moments[i]), kept_squares = own(group.second_moments[i]);
            const at::Tensor moments = kept_moments.to(exact), squares = kept_squares.to(exact);
            fused(Piece{own(group.masters[i])}, Piece{own(slopes[i - first]).to(exact)}, Piece{moments}, Piece{squares},
                Piece{steps[i - first]});
            if (!moments.is_same(kept_moments)) {
                kept_moments.copy_(moments);
                kept_squares.copy_(squares);
            }
        }
    }
}

void Adam::update(std::size_t first, std::size_t last, const std::vector<at::Tensor>& gradients, double learning_rate,
    double scale) const
{
    for (std::size_t b = first; b < last && scale != 1; ++b)
        gradients[b].mul_(scale);
    for (const Ruled& ruled : ruled_)
        if (ruled.bucket >= first && ruled.bucket < last)
            ruled.masters.add_(stretch(gradients[ruled.bucket], ruled.segment).sign(), -settings_.routing_bias_rate);
    for (const Group& group : groups_) {
        const auto place = [&](std::size_t bucket) {
            return std::size_t(std::ranges::lower_bound(group.buckets, bucket) - group.buckets.begin());
        };
        if (place(first) < place(last))
            update(group, place(first), place(last), gradients, learning_rate);
    }
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
