// SPDX-License-Identifier: GPL-3.0-or-later
// The weights of this rank: autograd leaves that lie side by side in flat buffers, one per bucket. In mixed precision
// the leaves are bf16 and have fp32 master copies, which the optimizer updates (Micikevicius et al. 2017,
// arXiv:1710.03740, section 3.1).
#pragma once

#include "runner/trainer/data_parallel/bucket_plan.h"

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

namespace fourfold::trainer {

class Weights {
public:
    // Allocates and initialises by name (initial_values.h). `master` is the type of the optimizer's copy, `leaf` that
    // of the arithmetic; where they are equal there is one copy.
    Weights(std::vector<Shard> shards, std::vector<Bucket> buckets, uint64_t seed, const at::TensorOptions& master,
        at::ScalarType leaf);

    // Precondition: the table has a parameter of this name.
    [[nodiscard]] const at::Tensor& operator[](const std::string& name) const;
    [[nodiscard]] bool contains(const std::string& name) const { return by_name_.contains(name); }

    [[nodiscard]] const std::vector<Shard>& shards() const { return shards_; }
    [[nodiscard]] const std::vector<at::Tensor>& leaves() const { return leaves_; } // beside shards()
    [[nodiscard]] const std::vector<Bucket>& buckets() const { return buckets_; }
    [[nodiscard]] const std::vector<at::Tensor>& flat() const { return flat_; } // master copies, beside buckets()
    // Brings the leaves up to date after the master copies changed.
    void refresh() const;

    // The part of a bucket's flat buffer that belongs to one entry, in the shard's shape.
    static at::Tensor view(const at::Tensor& flat, const BucketEntry& entry, const Shard& shard);

private:
    std::vector<Shard> shards_;
    std::vector<Bucket> buckets_;
    std::vector<at::Tensor> flat_, leaf_flat_, leaves_; // leaf_flat_ is flat_ where one copy is enough
    std::map<std::string, std::size_t> by_name_;
};

} // namespace fourfold::trainer
