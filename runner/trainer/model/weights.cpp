// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/weights.h"

#include "runner/trainer/model/initial_values.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace fourfold::trainer {

at::Tensor Weights::view(const at::Tensor& flat, const BucketEntry& entry, const Shard& shard)
{
    return flat.narrow(0, entry.offset, shard.elements()).view(shard.shape());
}

at::Tensor Weights::part_of(const at::Tensor& flat) const
{
    const int64_t elements = flat.numel() / part_.count;
    return flat.narrow(0, part_.index * elements, elements);
}

Weights::Weights(std::vector<Shard> shards, std::vector<Bucket> buckets, uint64_t seed, const at::TensorOptions& master,
    at::ScalarType leaf, Part part)
    : shards_(std::move(shards))
    , buckets_(std::move(buckets))
    , part_(part)
    , leaves_(shards_.size())
{
    for (const Bucket& bucket : buckets_) {
        const at::Tensor exact = at::zeros({bucket.elements}, master);
        for (const BucketEntry& entry : bucket.entries) {
            std::vector<double> values = initial_values(shards_[entry.shard], seed);
            view(exact, entry, shards_[entry.shard])
                .copy_(at::from_blob(values.data(), shards_[entry.shard].shape(), at::kDouble));
        }
        const bool one_copy = exact.scalar_type() == leaf;
        flat_.push_back(one_copy ? exact : exact.to(leaf));
        masters_.push_back(one_copy ? part_of(exact) : part_of(exact).clone());
        for (const BucketEntry& entry : bucket.entries) {
            leaves_[entry.shard] = view(flat_.back(), entry, shards_[entry.shard]).detach().requires_grad_(true);
            by_name_[shards_[entry.shard].parameter.name] = entry.shard;
        }
    }
}

void Weights::publish(const Communicator& replicas) const
{
    for (std::size_t b = 0; b < flat_.size(); ++b) {
        const at::Tensor own = part_of(flat_[b]);
        if (own.scalar_type() != masters_[b].scalar_type())
            own.copy_(masters_[b]);
        if (sharded())
            replicas.all_gather_into(flat_[b], own.clone());
    }
}

at::Tensor Weights::whole(const at::Tensor& part, const Communicator& replicas) const
{
    return sharded() ? replicas.all_gather(part) : part;
}

void Weights::write(const at::Tensor& part, const BucketEntry& entry, const std::vector<double>& values) const
{
    const int64_t first = part_.index * part.numel(), last = first + part.numel();
    const int64_t begin = std::max(first, entry.offset);
    const int64_t end = std::min(last, entry.offset + int64_t(values.size()));
    if (begin >= end)
        return;
    const at::Tensor source = at::from_blob(
        const_cast<double*>(values.data()) + (begin - entry.offset), {end - begin}, at::TensorOptions(at::kDouble));
    part.narrow(0, begin - first, end - begin).copy_(source);
}

const at::Tensor& Weights::operator[](const std::string& name) const
{
    return leaves_[by_name_.at(name)];
}

} // namespace fourfold::trainer
