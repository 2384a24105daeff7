// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/checkpoint/rank_share.h"

#include "runner/trainer/checkpoint/names.h"
#include "runner/trainer/device/device.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <tuple>

#include <sys/mman.h>

namespace fourfold::trainer {

namespace {
constexpr int64_t kAlignment = 64;

int64_t aligned(int64_t bytes)
{
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::string dtype_of(const at::Tensor& tensor)
{
    switch (tensor.scalar_type()) {
    case at::kDouble:
        return "F64";
    case at::kBFloat16:
        return "BF16";
    default:
        return "F32";
    }
}
} // namespace

RankShare::RankShare(const ResolvedPlan& plan, const Mesh& mesh, const Weights& weights, const Adam& optimizer)
    : plan_(plan)
    , mesh_(mesh)
    , weights_(weights)
    , states_(optimizer.states())
{
    deal_weights();
    slice_states();
    const bool pinned = weights_.device().is_cuda();
    host_ = at::empty({std::max<int64_t>(bytes_, 1)}, at::TensorOptions(at::kByte).pinned_memory(pinned));
}

void RankShare::make_room() const
{
    constexpr uintptr_t kPage = 2 << 20; // a huge one
    if (host_.is_pinned()) // CUDA found them
        return;
    const auto begin = reinterpret_cast<uintptr_t>(host_.data_ptr());
    const uintptr_t first = (begin + kPage - 1) / kPage * kPage,
                    last = (begin + uintptr_t(host_.numel())) / kPage * kPage;
    if (first >= last)
        return;
    auto* const pages = reinterpret_cast<void*>(first); // NOLINT(performance-no-int-to-ptr)
    // Where the kernel can do neither, the first copy makes them.
    (void)::madvise(pages, last - first, MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
    (void)::madvise(pages, last - first, MADV_POPULATE_WRITE);
#endif
}

const Communicator& RankShare::cut_over(const Shard& shard) const
{
    return mesh_[shard.parameter.expert >= 0 ? GroupKind::etp : GroupKind::tp];
}

// Each tensor to the one of its ranks that has the least so far. All of them deal alike; an expert's are those of one
// ep rank.
void RankShare::deal_weights()
{
    // By the groups of its replicas, and whether it is an expert: of each rank.
    std::map<std::tuple<GroupKind, GroupKind, bool>, std::vector<int64_t>> loads;
    for (std::size_t b = 0; b < weights_.buckets().size(); ++b) {
        const Bucket& bucket = weights_.buckets()[b];
        const Communicator& shard_group = mesh_[bucket.groups.shard];
        const int own = mesh_[bucket.groups.copies].rank() * shard_group.size() + shard_group.rank();
        for (const BucketEntry& entry : bucket.entries) {
            const Shard& shard = weights_.shards()[entry.shard];
            if (shard.second_copy)
                continue;
            const Communicator& cut = cut_over(shard);
            auto& load = loads[{bucket.groups.shard, bucket.groups.copies, shard.parameter.expert >= 0}];
            load.resize(std::size_t(mesh_[bucket.groups.copies].size() * shard_group.size() * cut.size()));
            const auto least = std::ranges::min_element(load);
            const int64_t bytes = aligned(shard.parameter.elements() * weights_.masters()[b].element_size());
            *least += bytes;
            const int writer = int(least - load.begin());
            WholeTensor tensor{b, entry, writer / cut.size() == own, false};
            tensor.writes = tensor.gathers && writer % cut.size() == cut.rank();
            bytes_ += tensor.writes ? bytes : 0;
            tensors_.push_back(tensor);
        }
    }
}

// Of values that several ranks hold: replicas take a slice each, tp ranks leave them to the first.
void RankShare::slice_states()
{
    for (std::size_t b = 0; b < weights_.buckets().size(); ++b) {
        const Bucket& bucket = weights_.buckets()[b];
        const Communicator& shard_group = mesh_[bucket.groups.shard];
        const Communicator& copies = mesh_[bucket.groups.copies];
        const int64_t replicas = copies.size() * (bucket.cut() ? 1 : shard_group.size());
        const int64_t own
            = copies.rank() * (bucket.cut() ? 1 : shard_group.size()) + (bucket.cut() ? 0 : shard_group.rank());
        const int64_t low = bucket.part_begin() + bucket.part_elements() * own / replicas;
        const int64_t high = bucket.part_begin() + bucket.part_elements() * (own + 1) / replicas;
        for (const BucketEntry& entry : bucket.entries) {
            const Shard& shard = weights_.shards()[entry.shard];
            const bool everywhere = shard.replication == Replication::tp || shard.replication == Replication::heads;
            const bool copy = (everywhere && mesh_[GroupKind::tp].rank() != 0)
                || (shard.replication == Replication::etp && mesh_[GroupKind::etp].rank() != 0)
                || (shard.replication == Replication::kv && mesh_[GroupKind::tp_keys].rank() != 0);
            const int64_t begin = std::max(low, entry.offset), end = std::min(high, entry.offset + shard.elements());
            if (copy || begin >= end || shard.second_copy)
                continue;
            const Piece piece = Piece::of(shard, begin - entry.offset, end - begin);
            if (piece.count == 0)
                continue;
            slices_.push_back({b, begin - bucket.part_begin(), piece.count, piece, shard.muon});
            for (const Adam::State& state : states_)
                if (state.muon == shard.muon)
                    bytes_ += aligned(piece.count * (*state.buffers)[b].element_size());
        }
    }
}

// The whole tensor of the table, from the parts of the ranks that cut it.
at::Tensor RankShare::over_tp(const at::Tensor& own, const Shard& shard) const
{
    const Communicator& group = cut_over(shard);
    if (shard.parameter.tp_dim < 0 || group.size() == 1)
        return own;
    const at::Tensor all = group.all_gather(own.contiguous().unsqueeze(0));
    // Ranks that share key/value heads have the same part: one of them counts.
    const int copies = shard.replication == Replication::kv ? mesh_[GroupKind::tp_keys].size() : 1;
    std::vector<at::Tensor> parts;
    for (int rank = 0; rank < group.size(); rank += copies)
        parts.push_back(all[rank]);
    return at::cat(parts, shard.parameter.tp_dim);
}

// On CUDA the copy is only asked for; memory of `values` that is freed before is not reused before it.
std::byte* RankShare::put(const at::Tensor& values)
{
    const int64_t bytes = values.numel() * values.element_size();
    const at::Tensor room = host_.narrow(0, used_, bytes);
    used_ += aligned(bytes);
    room.view(values.scalar_type()).view(values.sizes()).copy_(values, /*non_blocking=*/true);
    return static_cast<std::byte*>(room.data_ptr());
}

RankShare::Files RankShare::copy()
{
    const at::NoGradGuard no_graph;
    const Communicator& world = mesh_[GroupKind::world];
    used_ = 0;
    Files files;
    files.weights.name = part_file("model", world.rank(), world.size());
    files.states.name = part_file("optimizer", world.rank(), world.size());
    for (std::size_t b = 0, next = 0; b < weights_.buckets().size(); ++b) {
        const at::Tensor whole = weights_.whole(b, weights_.masters()[b]);
        for (; next < tensors_.size() && tensors_[next].bucket == b; ++next) {
            const WholeTensor& tensor = tensors_[next];
            if (!tensor.gathers)
                continue;
            const Shard& shard = weights_.shards()[tensor.entry.shard];
            const at::Tensor full = over_tp(Weights::view(whole, tensor.entry, shard), shard);
            if (!tensor.writes)
                continue;
            const StoredLayout layout(plan_.model, shard);
            HostTensor stored{{shard.parameter.name, dtype_of(full), layout.shape()},
                put(full.narrow(0, 0, layout.rows())), std::nullopt};
            if (!layout.as_in_the_table())
                stored.layout = layout;
            files.weights.tensors.push_back(std::move(stored));
        }
    }
    for (const auto& [suffix, buffers, muon] : states_)
        for (const Slice& slice : slices_) {
            if (slice.muon != muon)
                continue;
            const at::Tensor values = (*buffers)[slice.bucket].narrow(0, slice.begin, slice.count);
            files.states.tensors.push_back(
                {{slice.piece.stored_name(suffix), dtype_of(values), {slice.count}}, put(values), std::nullopt});
        }
    for (const Slice& slice : slices_)
        files.pieces.push_back(slice.piece);
    synchronize_gpu();
    return files;
}

} // namespace fourfold::trainer
