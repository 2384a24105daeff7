// SPDX-License-Identifier: GPL-3.0-or-later
// The weights of this rank: autograd leaves that lie side by side in flat buffers, one per bucket.
#pragma once

#include "runner/trainer/data_parallel/bucket_plan.h"

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

namespace fourfold::trainer {

class Weights {
public:
    // Allocates and initialises by name (initial_values.h).
    Weights(std::vector<Shard> shards, std::vector<Bucket> buckets, uint64_t seed, const at::TensorOptions& options);

    // Precondition: the table has a parameter of this name.
    [[nodiscard]] const at::Tensor& operator[](const std::string& name) const;
    [[nodiscard]] bool contains(const std::string& name) const { return by_name_.contains(name); }

    [[nodiscard]] const std::vector<Shard>& shards() const { return shards_; }
    [[nodiscard]] const std::vector<at::Tensor>& leaves() const { return leaves_; } // beside shards()
    [[nodiscard]] const std::vector<Bucket>& buckets() const { return buckets_; }
    [[nodiscard]] const std::vector<at::Tensor>& flat() const { return flat_; } // beside buckets()

    // The part of a bucket's flat buffer that belongs to one entry, in the shard's shape.
    static at::Tensor view(const at::Tensor& flat, const BucketEntry& entry, const Shard& shard);

private:
    std::vector<Shard> shards_;
    std::vector<Bucket> buckets_;
    std::vector<at::Tensor> flat_, leaves_;
    std::map<std::string, std::size_t> by_name_;
};

} // namespace fourfold::trainer
