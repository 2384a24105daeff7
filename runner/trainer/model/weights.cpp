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
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
        const Bucket& bucket = buckets_[b];
        const at::Tensor exact = at::zeros({bucket.elements}, master);
        for (const BucketEntry& entry : bucket.entries) {
            std::vector<double> values = initial_values(shards_[entry.shard], seed);
            view(exact, entry, shards_[entry.shard])
                .copy_(at::from_blob(values.data(), shards_[entry.shard].shape(), at::kDouble));
        }
        const bool same_type = exact.scalar_type() == leaf;
        flat_.push_back(same_type ? exact : exact.to(leaf));
        masters_.push_back(same_type && !part_.values_too ? part_of(exact) : part_of(exact).clone());
        for (const BucketEntry& entry : bucket.entries) {
            // With a version of its own: autograd must not take a gathered value for a changed one.
            leaves_[entry.shard] = view(flat_.back(), entry, shards_[entry.shard]).variable_data().requires_grad_(true);
            by_name_[shards_[entry.shard].parameter.name] = entry.shard;
        }
        if (part_.values_too)
            release(b);
    }
}

std::vector<BucketSegment> Weights::own_segments(std::size_t bucket) const
{
    const int64_t length = part_elements(bucket), begin = part_.index * length;
    std::vector<BucketSegment> own;
    for (BucketSegment segment : buckets_[bucket].segments) {
        segment.begin = std::max<int64_t>(segment.begin - begin, 0);
        segment.end = std::min(segment.end - begin, length);
        if (segment.begin < segment.end)
            own.push_back(segment);
    }
    return own;
}

Handle Weights::start_publish(std::size_t bucket, const Communicator& shard_group) const
{
    if (part_.values_too)
        return {};
    const at::Tensor own = part_of(flat_[bucket]);
    if (own.scalar_type() != masters_[bucket].scalar_type())
        own.copy_(masters_[bucket]);
    return sharded() ? shard_group.start_all_gather(flat_[bucket], own.clone()) : Handle();
}

// The leaves are views of flat_: they see whatever memory its storage has.
Handle Weights::start_gather(std::size_t bucket, const Communicator& shard_group) const
{
    const at::Tensor& flat = flat_[bucket];
    c10::StorageImpl& storage = *flat.storage().unsafeGetStorageImpl();
    const std::size_t bytes = std::size_t(buckets_[bucket].elements) * flat.element_size();
    storage.set_data_ptr_noswap(storage.allocator()->allocate(bytes));
    storage.set_nbytes(bytes);
    return shard_group.start_all_gather(flat, masters_[bucket].to(flat.scalar_type()));
}

void Weights::release(std::size_t bucket) const
{
    c10::StorageImpl& storage = *flat_[bucket].storage().unsafeGetStorageImpl();
    storage.set_data_ptr_noswap(at::DataPtr(nullptr, flat_[bucket].device()));
    storage.set_nbytes(0);
}

std::vector<at::Tensor> Weights::values(const Communicator& shard_group) const
{
    std::vector<at::Tensor> values(shards_.size());
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
        const at::Tensor flat = whole(masters_[b], shard_group);
        for (const BucketEntry& entry : buckets_[b].entries)
            values[entry.shard] = view(flat, entry, shards_[entry.shard]);
    }
    return values;
}

at::Tensor Weights::whole(const at::Tensor& part, const Communicator& shard_group) const
{
    return sharded() ? shard_group.all_gather(part) : part;
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
