// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/weights.h"

#include "core/base/parallel.h"
#include "runner/trainer/kernels/fp8.h"
#include "runner/trainer/model/initial_values.h"
#include "runner/trainer/rehearsal/lasting.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <functional>
#include <memory>

namespace fourfold::trainer {

at::Tensor Weights::view(const at::Tensor& flat, const BucketEntry& entry, const Shard& shard)
{
    return flat.narrow(0, entry.offset, shard.elements()).view(shard.shape());
}

at::Tensor Weights::part_of(const at::Tensor& flat, const Bucket& bucket)
{
    return flat.narrow(0, bucket.part_begin(), bucket.part_elements());
}

Weights::Weights(std::vector<Shard> shards, std::vector<Bucket> buckets, const Mesh& mesh, uint64_t seed,
    const at::TensorOptions& master, at::ScalarType leaf, bool fully_sharded, bool masters_away)
    : shards_(std::move(shards))
    , buckets_(std::move(buckets))
    , mesh_(mesh)
    , fully_sharded_(fully_sharded)
    , largest_(shards_.size())
    , leaves_(shards_.size())
{
    const at::ScalarType exact = c10::typeMetaToScalarType(master.dtype());
    std::vector<Handle> publishing;
    if (masters_away)
        away_.emplace(Away{CopyLane(master.device()), {}, {}, {}, {}});
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
        const Bucket& bucket = buckets_[b];
        const auto type = master.dtype(bucket.groups.exact ? exact : leaf);
        const bool one_copy = (bucket.groups.exact || exact == leaf) && !fully_sharded;
        flat_.push_back(fully_sharded ? at::empty({bucket.elements}, type) : at::zeros({bucket.elements}, type));
        masters_.push_back(one_copy || away_ ? part_of(flat_[b], bucket) : at::zeros({bucket.part_elements()}, master));
        if (away_)
            move_away(b, master);
        initialise(b, seed);
        for (const BucketEntry& entry : bucket.entries)
            if (bucket.groups.narrow)
                largest_[entry.shard] = at::zeros({1, 1}, master);
        for (const BucketEntry& entry : bucket.entries) {
            // With a version of its own: autograd must not take a gathered value for a changed one.
            leaves_[entry.shard] = view(flat_.back(), entry, shards_[entry.shard]).variable_data().requires_grad_(true);
        }
        if (fully_sharded)
            release(b);
        publishing.push_back(start_publish(b));
    }
    for (Handle& handle : publishing)
        handle.wait();
}

void Weights::move_away(std::size_t bucket, const at::TensorOptions& master)
{
    const int64_t count = buckets_[bucket].part_elements();
    const at::Tensor on_device = fully_sharded_ ? at::zeros({count}, master) : masters_[bucket];
    const bool narrower = on_device.dtype() != master.dtype();
    masters_[bucket] = away_->lane.host_room(on_device, c10::typeMetaToScalarType(master.dtype()));
    {
        const OnHost host;
        masters_[bucket].zero_();
    }
    away_->copies.push_back(on_device);
    away_->narrow.push_back(narrower ? away_->lane.host_room(on_device, on_device.scalar_type()) : at::Tensor());
    away_->returning.emplace_back();
    away_->returned.push_back(false);
}

void Weights::start_return(std::size_t bucket) const
{
    if (!away_)
        return;
    const at::Tensor& narrow = away_->narrow[bucket];
    if (narrow.defined()) {
        const OnHost host;
        narrow.copy_(masters_[bucket]);
    }
    away_->lane.follow();
    away_->lane.copy(narrow.defined() ? narrow : masters_[bucket], away_->copies[bucket]);
    away_->returning[bucket] = away_->lane.mark();
    away_->returned[bucket] = true;
}

void Weights::initialise(std::size_t bucket, uint64_t seed) const
{
    constexpr int64_t kPiece = 1 << 18; // elements: about a millisecond
    const at::Tensor& part = masters_[bucket];
    if (part.is_meta()) // no values to set
        return;
    const int64_t first = buckets_[bucket].part_begin(), last = first + part.numel();
    for (const BucketEntry& entry : buckets_[bucket].entries) {
        const Shard& shard = shards_[entry.shard];
        const int64_t begin = std::max(first, entry.offset), end = std::min(last, entry.offset + shard.elements());
        if (begin >= end)
            continue;
        const at::Tensor target = part.narrow(0, begin - first, end - begin);
        const at::Tensor values = target.is_cpu() ? target : at::empty_like(target, target.options().device(at::kCPU));
        AT_DISPATCH_FLOATING_TYPES(values.scalar_type(), "initialise", [&] {
            auto* const data = values.data_ptr<scalar_t>();
            const std::size_t pieces = std::size_t((end - begin + kPiece - 1) / kPiece);
            for_each_parallel(pieces, at::get_num_threads(), [&](std::size_t piece) {
                const int64_t from = int64_t(piece) * kPiece, count = std::min(kPiece, end - begin - from);
                fill_initial_values<scalar_t>(
                    shard, seed, begin - entry.offset + from, {data + from, std::size_t(count)});
            });
        });
        if (!target.is_cpu())
            target.copy_(values);
    }
}

Handle Weights::start_publish(std::size_t bucket) const
{
    if (away_) {
        if (!away_->returned[bucket])
            start_return(bucket);
        away_->returned[bucket] = false;
        away_->lane.device_waits(away_->returning[bucket]);
    }
    if (fully_sharded_) {
        if (buckets_[bucket].groups.narrow)
            measure(bucket);
        return {};
    }
    const at::Tensor own = part_of(flat_[bucket], buckets_[bucket]);
    if (!away_ && own.scalar_type() != masters_[bucket].scalar_type())
        own.copy_(masters_[bucket]);
    return buckets_[bucket].cut() ? shard_group(bucket).start_all_gather(flat_[bucket], own.clone()) : Handle();
}

// The leaves are views of flat_: they see whatever memory its storage has.
Handle Weights::start_gather(std::size_t bucket) const
{
    const at::Tensor& flat = flat_[bucket];
    c10::StorageImpl& storage = *flat.storage().unsafeGetStorageImpl();
    const std::size_t bytes = std::size_t(buckets_[bucket].elements) * flat.element_size();
    storage.set_data_ptr_noswap(storage.allocator()->allocate(bytes));
    storage.set_nbytes(bytes);
    if (buckets_[bucket].groups.narrow)
        return start_narrow_gather(bucket);
    return shard_group(bucket).start_all_gather(flat, gathered_from(bucket).to(flat.scalar_type()));
}

at::Tensor Weights::own_part(std::size_t bucket, const BucketEntry& entry, const at::Tensor& part) const
{
    const auto [begin, end] = own_range(bucket, entry);
    return part.narrow(0, end > begin ? entry.offset + begin - buckets_[bucket].part_begin() : 0, end - begin);
}

void Weights::measure(std::size_t bucket) const
{
    const auto& entries = buckets_[bucket].entries;
    const at::Tensor all = at::zeros({int64_t(entries.size())}, gathered_from(bucket).options());
    for (std::size_t i = 0; i < entries.size(); ++i)
        if (const at::Tensor own = own_part(bucket, entries[i], gathered_from(bucket)); own.numel() > 0)
            all[int64_t(i)].copy_(largest_of_blocks(own.unsqueeze(0), {}).squeeze());
    shard_group(bucket).all_reduce(all, Reduce::max);
    mesh_[GroupKind::tp].all_reduce(all, Reduce::max);
    for (std::size_t i = 0; i < entries.size(); ++i)
        largest_[entries[i].shard].copy_(all[int64_t(i)].view({1, 1}));
}

namespace {
// What came is not yet what is needed.
class Finished final : public Pending {
public:
    Finished(Handle handle, std::function<void()> finish)
        : handle_(std::move(handle))
        , finish_(std::move(finish))
    {
    }
    void wait() override
    {
        handle_.wait();
        finish_();
    }

private:
    Handle handle_;
    std::function<void()> finish_;
};
} // namespace

// Products round the leaves to the same numbers again, with the same scales.
Handle Weights::start_narrow_gather(std::size_t bucket) const
{
    const Bucket& own = buckets_[bucket];
    const at::Tensor& master = gathered_from(bucket);
    const at::Tensor part = at::zeros({own.part_elements()}, master.options().dtype(at::kByte));
    for (const BucketEntry& entry : own.entries)
        if (const at::Tensor values = own_part(bucket, entry, master); values.numel() > 0)
            own_part(bucket, entry, part)
                .copy_(quantize(values.unsqueeze(0), at::kFloat8_e4m3fn, {}, ScaleKind::exact, largest_[entry.shard])
                           .values.squeeze(0)
                           .view(at::kByte));
    const at::Tensor bytes = at::empty({own.elements}, part.options());
    Handle gather = shard_group(bucket).start_all_gather(bytes, part);
    return Handle(std::make_unique<Finished>(std::move(gather),
                      [this, bucket, bytes] {
                          for (const BucketEntry& entry : buckets_[bucket].entries) {
                              const int64_t count = shards_[entry.shard].elements();
                              at::Tensor place = flat_[bucket].narrow(0, entry.offset, count);
                              // Exact in either type, and multiplied in the scale's.
                              place.copy_(bytes.narrow(0, entry.offset, count).view(at::kFloat8_e4m3fn));
                              const at::Tensor scale = inverse_scale(largest_[entry.shard], at::kFloat8_e4m3fn);
                              at::mul_out(place, place, scale.view({1}));
                          }
                      }),
        nullptr, 0);
}

void Weights::release(std::size_t bucket) const
{
    c10::StorageImpl& storage = *flat_[bucket].storage().unsafeGetStorageImpl();
    storage.set_data_ptr_noswap(at::DataPtr(nullptr, flat_[bucket].device()));
    storage.set_nbytes(0);
}

std::vector<at::Tensor> Weights::values() const
{
    std::vector<at::Tensor> values(shards_.size());
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
        const at::Tensor flat = whole(b, masters_[b]);
        for (const BucketEntry& entry : buckets_[b].entries)
            values[entry.shard] = view(flat, entry, shards_[entry.shard]);
    }
    return values;
}

at::Tensor Weights::whole(std::size_t bucket, const at::Tensor& part) const
{
    const at::Tensor own = part.to(device());
    return buckets_[bucket].cut() ? shard_group(bucket).all_gather(own) : own;
}

std::pair<int64_t, int64_t> Weights::own_range(std::size_t bucket, const BucketEntry& entry) const
{
    const Bucket& own = buckets_[bucket];
    return own.range_in(own.groups.part, entry, shards_[entry.shard].elements());
}

void Weights::write(std::size_t bucket, const at::Tensor& part, const BucketEntry& entry, int64_t begin,
    const std::vector<double>& values) const
{
    const auto count = int64_t(values.size());
    const at::Tensor source
        = at::from_blob(const_cast<double*>(values.data()), {count}, at::TensorOptions(at::kDouble));
    part.narrow(0, entry.offset + begin - buckets_[bucket].part_begin(), count).copy_(source);
}

Affine Weights::find(int layer, Role role) const
{
    Affine found;
    for (std::size_t i = 0; i < shards_.size(); ++i) {
        const Parameter& parameter = shards_[i].parameter;
        if (parameter.layer == layer && parameter.role == role && parameter.expert < 0)
            (parameter.name.ends_with(".bias") ? found.bias : found.weight) = leaves_[i];
    }
    return found;
}

Weights::OfExperts Weights::find_experts(int layer, Role role) const
{
    OfExperts found;
    for (std::size_t i = 0; i < shards_.size(); ++i) {
        const Parameter& parameter = shards_[i].parameter;
        if (parameter.layer == layer && parameter.role == role && parameter.expert >= 0)
            (parameter.name.ends_with(".bias") ? found.biases : found.weights).push_back(leaves_[i]);
    }
    return found;
}

} // namespace fourfold::trainer
