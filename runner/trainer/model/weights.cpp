// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/weights.h"

#include "runner/trainer/model/initial_values.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

namespace fourfold::trainer {

at::Tensor Weights::view(const at::Tensor& flat, const BucketEntry& entry, const Shard& shard)
{
    return flat.narrow(0, entry.offset, shard.elements()).view(shard.shape());
}

Weights::Weights(std::vector<Shard> shards, std::vector<Bucket> buckets, uint64_t seed, const at::TensorOptions& master,
    at::ScalarType leaf)
    : shards_(std::move(shards))
    , buckets_(std::move(buckets))
    , leaves_(shards_.size())
{
    for (const Bucket& bucket : buckets_) {
        flat_.push_back(at::zeros({bucket.elements}, master));
        leaf_flat_.push_back(flat_.back().scalar_type() == leaf ? flat_.back() : flat_.back().to(leaf));
        for (const BucketEntry& entry : bucket.entries) {
            const Shard& shard = shards_[entry.shard];
            std::vector<double> values = initial_values(shard, seed);
            view(flat_.back(), entry, shard).copy_(at::from_blob(values.data(), shard.shape(), at::kDouble));
            leaves_[entry.shard] = view(leaf_flat_.back(), entry, shard).detach().requires_grad_(true);
            by_name_[shard.parameter.name] = entry.shard;
        }
    }
    refresh();
}

void Weights::refresh() const
{
    for (std::size_t b = 0; b < flat_.size(); ++b)
        if (!leaf_flat_[b].is_same(flat_[b]))
            leaf_flat_[b].copy_(flat_[b]);
}

const at::Tensor& Weights::operator[](const std::string& name) const
{
    return leaves_[by_name_.at(name)];
}

} // namespace fourfold::trainer
