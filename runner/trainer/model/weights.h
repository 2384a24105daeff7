// SPDX-License-Identifier: GPL-3.0-or-later
// The weights of this rank: autograd leaves that lie side by side in flat buffers, one per bucket. In mixed precision
// the leaves are bf16 and have fp32 master copies, which the optimizer updates (Micikevicius et al. 2017,
// arXiv:1710.03740, section 3.1). With ZeRO (Rajbhandari et al. 2019, arXiv:1910.02054, section 5) each replica keeps
// the optimizer's copy of its part alone; in stage 3 it keeps nothing else, and a bucket's leaves have values only
// while they are gathered (data_parallel/parameter_units.h).
#pragma once

#include "runner/trainer/comm/mesh.h"
#include "runner/trainer/data_parallel/bucket_plan.h"
#include "runner/trainer/offload/copy_lane.h"

#include <ATen/core/Tensor.h>

#include <optional>
#include <utility>
#include <vector>

namespace fourfold::trainer {

// y = x W^T + bias, or the two vectors of a norm; `bias` may be undefined.
struct Affine {
    at::Tensor weight, bias;
};

class Weights {
public:
    // Allocates and initialises by name (initial_values.h): a rank makes the values of its own part alone and gets the
    // others' from its shard group (collective where buckets are cut). `master` is the type of the optimizer's copy,
    // `leaf` that of the arithmetic, exact buckets apart; where they are equal there is one copy. `fully_sharded`: the
    // leaves are cut as well, as the buckets are (ZeRO stage 3). `masters_away`: the optimizer's copy lies in the
    // host's memory (ZeRO-Offload, Ren et al. 2021, arXiv:2101.06840). `mesh` must outlive the weights.
    Weights(std::vector<Shard> shards, std::vector<Bucket> buckets, const Mesh& mesh, uint64_t seed,
        const at::TensorOptions& master, at::ScalarType leaf, bool fully_sharded, bool masters_away = false);

    // The leaves of this role in a layer (-1: outside of the layers); undefined where this rank has none.
    [[nodiscard]] Affine find(int layer, Role role) const;
    // Of the layer's routed experts that this rank holds, by their number; `biases` may be empty.
    struct OfExperts {
        std::vector<at::Tensor> weights, biases;
    };
    [[nodiscard]] OfExperts find_experts(int layer, Role role) const;

    [[nodiscard]] const std::vector<Shard>& shards() const { return shards_; }
    [[nodiscard]] const std::vector<at::Tensor>& leaves() const { return leaves_; } // beside shards()
    [[nodiscard]] const std::vector<Bucket>& buckets() const { return buckets_; }
    [[nodiscard]] bool fully_sharded() const { return fully_sharded_; }
    [[nodiscard]] at::Device device() const { return flat_.front().device(); } // that computes
    // What the optimizer updates: this rank's part of every bucket, in the master type. Beside buckets().
    [[nodiscard]] const std::vector<at::Tensor>& masters() const { return masters_; }
    [[nodiscard]] bool masters_away() const { return away_.has_value(); }
    // Masters in the host's memory: those of a bucket changed, and go to the device while the host goes on. Others:
    // nothing.
    void start_return(std::size_t bucket) const;
    // Brings the leaves of a bucket up to date after the masters changed; cut, from all ranks of its shard group
    // (collective; wait before use). Where leaves are gathered when they are needed it is nothing, or the magnitudes of
    // a narrow bucket.
    [[nodiscard]] Handle start_publish(std::size_t bucket) const;

    // Of a leaf in a narrow bucket: its matrix's largest magnitude over all ranks, [1, 1]; it follows the masters. Else
    // undefined.
    [[nodiscard]] at::Tensor largest(std::size_t shard) const { return largest_[shard]; }

    // Stage 3: the values of a bucket's leaves come (collective; wait before use) and go.
    [[nodiscard]] Handle start_gather(std::size_t bucket) const;
    void release(std::size_t bucket) const;

    // For comparisons: the whole value of every weight in the master type, beside shards(). Collective.
    [[nodiscard]] std::vector<at::Tensor> values() const;

    // The whole of a bucket's buffer beside masters(), of which each rank may hold a part. Collective where it is cut.
    [[nodiscard]] at::Tensor whole(std::size_t bucket, const at::Tensor& part) const;
    // Which elements of a parameter's shard, row-major, lie in this rank's part of a bucket: [first, second), perhaps
    // none.
    [[nodiscard]] std::pair<int64_t, int64_t> own_range(std::size_t bucket, const BucketEntry& entry) const;
    // Writes the elements of the shard from `begin` into a bucket's buffer beside masters(). Precondition: there are
    // some, and they lie in this rank's part.
    void write(std::size_t bucket, const at::Tensor& part, const BucketEntry& entry, int64_t begin,
        const std::vector<double>& values) const;
    // The part of a bucket's flat buffer that belongs to one entry, in the shard's shape.
    static at::Tensor view(const at::Tensor& flat, const BucketEntry& entry, const Shard& shard);

private:
    void move_away(std::size_t bucket, const at::TensorOptions& master);
    void initialise(std::size_t bucket, uint64_t seed) const; // this rank's part
    // This rank's part of an entry in the bucket's master.
    [[nodiscard]] at::Tensor own_part(std::size_t bucket, const BucketEntry& entry, const at::Tensor& part) const;
    void measure(std::size_t bucket) const; // collective
    [[nodiscard]] Handle start_narrow_gather(std::size_t bucket) const;
    [[nodiscard]] static at::Tensor part_of(const at::Tensor& flat, const Bucket& bucket);
    [[nodiscard]] const Communicator& shard_group(std::size_t bucket) const
    {
        return mesh_[buckets_[bucket].groups.shard];
    }

    // What a fully sharded bucket is gathered from, on the device.
    [[nodiscard]] const at::Tensor& gathered_from(std::size_t bucket) const
    {
        return away_ ? away_->copies[bucket] : masters_[bucket];
    }

    std::vector<Shard> shards_;
    std::vector<Bucket> buckets_;
    const Mesh& mesh_;
    // Of masters in the host's memory, beside buckets_.
    struct Away {
        CopyLane lane;
        std::vector<at::Tensor> copies; // on the device: the leaves' own part, or, fully sharded, in the master type
        std::vector<at::Tensor> narrow; // on the host, in the copies' type; undefined: that of the masters
        mutable std::vector<CopyLane::Mark> returning;
        mutable std::vector<bool> returned; // since the masters changed
    };
    std::optional<Away> away_;
    bool fully_sharded_;
    std::vector<at::Tensor> largest_; // beside shards()
    std::vector<at::Tensor> flat_, masters_,
        leaves_; // flat_: the leaves' buffers; masters_ are views of it where one copy is enough
};

} // namespace fourfold::trainer
